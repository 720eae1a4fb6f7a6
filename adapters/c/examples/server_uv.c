/* The server of server.c, with the event loop of libuv: reads are stopped while the connection does
 * not want input, and one timer follows the deadline. */
#include <mcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
static const char config[] =
    "{\"info\":{\"name\":\"uv-server\",\"version\":\"1\"},\"limits\":{\"message_bytes_max\":65536}}";
static const char catalog[] =
    "{\"tools\":[{\"name\":\"echo\",\"description\":\"Returns the text\",\"inputSchema\":"
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}}]}";
static uint8_t received[1 << 16], event[1 << 18], sending[1 << 16];
static char request[24], text[1 << 17], reply[1 << 18];
static mcp_connection server;
static uv_pipe_t input, output;
static uv_timer_t timer;
static uv_write_t write_request;
static bool is_open = true, is_reading = false, is_writing = false;

static void advance(void);

static bool get(size_t length, const char *pointer, char *to, size_t size) {
    size_t end = 0;
    bool found = mcp_json_get(event, length, pointer, (uint8_t *)to, size - 1, &end) == MCP_OK;
    to[found ? end : 0] = 0;
    return found;
}

static void handle(size_t length) {
    if (!get(length, "/request/method", reply, sizeof reply)) return;
    get(length, "/incoming", request, sizeof request);
    bool is_text = get(length, "/request/params/arguments/text", text, sizeof text) && *text == '"';
    int size = snprintf(reply, sizeof reply,
        "{\"command\":\"respond\",\"incoming\":%s,\"result\":{\"isError\":%s,\"content\":"
        "[{\"type\":\"text\",\"text\":%s}]}}", request, is_text ? "false" : "true",
        is_text ? text : "\"the argument `text` must be a text\"");
    mcp_command(server, uv_hrtime(), (uint8_t *)reply, (size_t)size, NULL);
}

static void on_buffer(uv_handle_t *handle, size_t size, uv_buf_t *to) {
    (void)handle, (void)size;
    *to = uv_buf_init((char *)received, sizeof received);
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *from) {
    (void)from;
    if (length > 0) mcp_input(server, uv_hrtime(), received, (size_t)length);
    if (length < 0) {
        uv_read_stop(stream);
        is_open = is_reading = false;
        mcp_end_of_input(server, uv_hrtime());
    }
    advance();
}

static void on_written(uv_write_t *done, int status) {
    is_writing = false;
    /* The reader has gone: what is left cannot be sent. */
    if (status < 0) uv_stop(done->handle->loop);
    else advance();
}

static void on_timer(uv_timer_t *due) {
    (void)due;
    mcp_timeout(server, uv_hrtime());
    advance();
}

/* Handles events, and begins to write, to read and to wait as the connection wants it. */
static void advance(void) {
    size_t length;
    uint64_t due, time = uv_hrtime();
    bool wants_input = false, is_closed = false;
    while (mcp_next_event(server, time, event, sizeof event, &length) == MCP_OK) handle(length);
    if (!is_writing && mcp_output(server, sending, sizeof sending, &length) == MCP_OK && length) {
        /* The bytes are copied, so they count as sent. */
        mcp_written(server, length);
        uv_buf_t bytes = uv_buf_init((char *)sending, (unsigned)length);
        is_writing = uv_write(&write_request, (uv_stream_t *)&output, &bytes, 1, on_written) == 0;
    }
    mcp_wants_input(server, &wants_input);
    if (is_open && wants_input && !is_reading) uv_read_start((uv_stream_t *)&input, on_buffer, on_read);
    if (is_reading && !wants_input) uv_read_stop((uv_stream_t *)&input);
    is_reading = is_open && wants_input;
    if (mcp_deadline(server, &due) != MCP_OK) uv_timer_stop(&timer);
    else uv_timer_start(&timer, on_timer, due > time ? (due - time) / 1000000 + 1 : 0, 0);
    mcp_is_closed(server, &is_closed);
    if (is_closed && !is_writing) uv_stop(timer.loop);
}

int main(void) {
    uv_loop_t *loop = uv_default_loop();
    if (mcp_server_new(uv_hrtime(), BYTES(config), BYTES(catalog), &server) != MCP_OK) return 1;
    uv_pipe_init(loop, &input, 0), uv_pipe_open(&input, 0);
    uv_pipe_init(loop, &output, 0), uv_pipe_open(&output, 1);
    uv_timer_init(loop, &timer);
    advance();
    uv_run(loop, UV_RUN_DEFAULT);
    return mcp_free(server) == MCP_OK ? 0 : 1;
}
