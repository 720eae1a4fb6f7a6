/* Starts a server, calls its tool `echo` with `x`, and prints the result: client SERVER [ARGUMENT…] */
#include <errno.h>
#include <limits.h>
#include <mcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
static const char config[] =
    "{\"info\":{\"name\":\"c-client\",\"version\":\"1\"},\"limits\":{\"message_bytes_max\":65536}}";
static const char call[] = "{\"command\":\"call\",\"method\":\"tools/call\",\"params\":"
                           "{\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}},\"options\":{}}";
static const char close_it[] = "{\"command\":\"close\"}";
static uint8_t buffer[1 << 18];
static char part[1 << 18];

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool get(size_t length, const char *pointer) {
    size_t end = 0;
    bool found =
        mcp_json_get(buffer, length, pointer, (uint8_t *)part, sizeof part - 1, &end) == MCP_OK;
    part[found ? end : 0] = 0;
    return found;
}

/* Calls when the connection is ready, and closes it with the result. Returns whether that came. */
static bool handle(mcp_connection client, size_t length) {
    get(length, "/event");
    if (strcmp(part, "\"ready\"") == 0) mcp_command(client, now(), BYTES(call), NULL);
    if (strcmp(part, "\"completed\"") != 0) return false;
    bool is_result = get(length, "/outcome/result");
    if (!is_result) get(length, "/outcome/error");
    fprintf(is_result ? stdout : stderr, "%s\n", part);
    mcp_command(client, now(), BYTES(close_it), NULL);
    return is_result;
}

/* Starts the server. Returns its process. */
static pid_t start(char **command, int *input, int *output) {
    int to_server[2], from_server[2];
    if (pipe(to_server) != 0 || pipe(from_server) != 0) return -1;
    pid_t process = fork();
    if (process == 0) {
        dup2(to_server[0], STDIN_FILENO);
        dup2(from_server[1], STDOUT_FILENO);
        close(to_server[0]), close(to_server[1]), close(from_server[0]), close(from_server[1]);
        execvp(command[0], command);
        _exit(127);
    }
    close(to_server[0]), close(from_server[1]);
    *input = from_server[0], *output = to_server[1];
    return process;
}

int main(int count, char **arguments) {
    mcp_connection client;
    size_t length;
    int input, output;
    bool is_open = true, is_closed = false, wants_input = true, has_result = false;
    signal(SIGPIPE, SIG_IGN);
    if (count < 2 || start(arguments + 1, &input, &output) < 0) return 1;
    if (mcp_client_new(now(), BYTES(config), &client) != MCP_OK) return 1;
    for (;;) {
        while (mcp_next_event(client, now(), buffer, sizeof buffer, &length) == MCP_OK)
            has_result |= handle(client, length);
        mcp_output(client, buffer, PIPE_BUF, &length);
        if (mcp_is_closed(client, &is_closed) != MCP_OK || (is_closed && length == 0)) break;
        mcp_wants_input(client, &wants_input);
        uint64_t due, time = now(), left = 0;
        bool is_due = mcp_deadline(client, &due) == MCP_OK;
        if (is_due && due > time) left = (due - time) / 1000000 + 1;
        struct pollfd fds[] = {{is_open && wants_input ? input : -1, POLLIN, 0},
                               {length > 0 ? output : -1, POLLOUT, 0}};
        if (poll(fds, 2, is_due && left < INT_MAX ? (int)left : -1) < 0 && errno != EINTR) break;
        mcp_timeout(client, now());
        if (fds[1].revents) {
            ssize_t sent = write(output, buffer, length);
            if (sent > 0) mcp_written(client, (size_t)sent);
            if (sent < 0 && errno != EINTR) mcp_written(client, length);
        }
        if (fds[0].revents) {
            ssize_t received = read(input, buffer, sizeof buffer);
            if (received > 0) mcp_input(client, now(), buffer, (size_t)received);
            if (received == 0) is_open = false, mcp_end_of_input(client, now());
        }
    }
    close(output), close(input);
    wait(NULL);
    mcp_free(client);
    return has_result ? 0 : 1;
}
