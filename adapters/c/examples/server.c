/* A server on stdin and stdout with the tool `echo`, in a loop around poll(2). */
#include <errno.h>
#include <limits.h>
#include <mcp.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
/* Messages are limited, so that each event fits into the buffers. */
static const char config[] =
    "{\"info\":{\"name\":\"c-server\",\"version\":\"1\"},\"limits\":{\"message_bytes_max\":65536}}";
static const char catalog[] =
    "{\"tools\":[{\"name\":\"echo\",\"description\":\"Returns the text\",\"inputSchema\":"
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}}]}";
static uint8_t buffer[1 << 18];
static char request[24], text[1 << 17], reply[1 << 18];

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Copies a part of the event in the buffer, as JSON: with quotes and escapes. */
static bool get(size_t length, const char *pointer, char *to, size_t size) {
    size_t end = 0;
    bool found = mcp_json_get(buffer, length, pointer, (uint8_t *)to, size - 1, &end) == MCP_OK;
    to[found ? end : 0] = 0;
    return found;
}

static void handle(mcp_connection server, size_t length) {
    if (!get(length, "/request/method", reply, sizeof reply)) return;
    get(length, "/incoming", request, sizeof request);
    bool is_text = get(length, "/request/params/arguments/text", text, sizeof text) && *text == '"';
    int size = snprintf(reply, sizeof reply,
        "{\"command\":\"respond\",\"incoming\":%s,\"result\":{\"isError\":%s,\"content\":"
        "[{\"type\":\"text\",\"text\":%s}]}}", request, is_text ? "false" : "true",
        is_text ? text : "\"the argument `text` must be a text\"");
    mcp_command(server, now(), (uint8_t *)reply, (size_t)size, NULL);
}

int main(void) {
    mcp_connection server;
    size_t length;
    bool is_open = true, is_closed = false, wants_input = true;
    if (mcp_server_new(now(), BYTES(config), BYTES(catalog), &server) != MCP_OK) return 1;
    for (;;) {
        while (mcp_next_event(server, now(), buffer, sizeof buffer, &length) == MCP_OK)
            handle(server, length);
        mcp_output(server, buffer, PIPE_BUF, &length);
        if (mcp_is_closed(server, &is_closed) != MCP_OK || (is_closed && length == 0)) break;
        mcp_wants_input(server, &wants_input);
        uint64_t due, time = now(), left = 0;
        bool is_due = mcp_deadline(server, &due) == MCP_OK;
        if (is_due && due > time) left = (due - time) / 1000000 + 1;
        struct pollfd fds[] = {{is_open && wants_input ? STDIN_FILENO : -1, POLLIN, 0},
                               {length > 0 ? STDOUT_FILENO : -1, POLLOUT, 0}};
        if (poll(fds, 2, is_due && left < INT_MAX ? (int)left : -1) < 0 && errno != EINTR) break;
        mcp_timeout(server, now());
        if (fds[1].revents) {
            ssize_t sent = write(STDOUT_FILENO, buffer, length);
            if (sent < 0 && errno != EINTR && errno != EAGAIN) break;
            if (sent > 0) mcp_written(server, (size_t)sent);
        }
        if (fds[0].revents) {
            ssize_t received = read(STDIN_FILENO, buffer, sizeof buffer);
            if (received > 0) mcp_input(server, now(), buffer, (size_t)received);
            if (received == 0) is_open = false, mcp_end_of_input(server, now());
        }
    }
    return mcp_free(server) == MCP_OK && is_closed ? 0 : 1;
}
