/* Many calls in memory, some of them cancelled, with handles that are freed, wrong and used on two threads: calls COUNT */
#include <mcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
#define CHECK(condition) \
    do { \
        if (!(condition)) fail(#condition, __LINE__); \
    } while (0)

static const char config[] = "{\"info\":{\"name\":\"c\",\"version\":\"1\"}}";
static const char catalog[] = "{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}]}";
static const char call[] = "{\"command\":\"call\",\"method\":\"tools/call\",\"params\":"
                           "{\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}},\"options\":{}}";

struct pair {
    mcp_connection server, client;
    uint64_t now;
    long begun, completed, cancelled, count;
    uint8_t event[1 << 16], bytes[1 << 12];
    char part[1 << 12], reply[1 << 13];
};

static void fail(const char *condition, int line) {
    uint8_t why[512];
    size_t length = 0;
    mcp_last_error(why, sizeof why, &length);
    fprintf(stderr, "line %d: %s: %.*s\n", line, condition, (int)length, (char *)why);
    exit(1);
}

static bool get(struct pair *pair, size_t length, const char *pointer) {
    size_t end = 0;
    mcp_status status = mcp_json_get(pair->event, length, pointer, (uint8_t *)pair->part,
                                     sizeof pair->part - 1, &end);
    CHECK(status == MCP_OK || status == MCP_NONE);
    pair->part[status == MCP_OK ? end : 0] = 0;
    return status == MCP_OK;
}

static void begin_call(struct pair *pair) {
    uint64_t number = UINT64_MAX;
    if (pair->begun == pair->count) return;
    CHECK(mcp_command(pair->client, pair->now, BYTES(call), &number) == MCP_OK);
    CHECK(number != UINT64_MAX);
    pair->begun++;
    if (pair->begun % 10 == 0) {
        int size = snprintf(pair->reply, sizeof pair->reply,
                            "{\"command\":\"cancel\",\"call\":%llu,\"reason\":\"enough\"}",
                            (unsigned long long)number);
        CHECK(mcp_command(pair->client, pair->now, (uint8_t *)pair->reply, (size_t)size, NULL) == MCP_OK);
    }
}

static void handle_server(struct pair *pair, size_t length) {
    if (!get(pair, length, "/request/method")) return;
    CHECK(strcmp(pair->part, "\"tools/call\"") == 0);
    CHECK(get(pair, length, "/incoming"));
    int size = snprintf(pair->reply, sizeof pair->reply,
                        "{\"command\":\"respond\",\"incoming\":%s,\"result\":{\"content\":[]}}", pair->part);
    mcp_status status =
        mcp_command(pair->server, pair->now, (uint8_t *)pair->reply, (size_t)size, NULL);
    /* The client may have cancelled the call. */
    CHECK(status == MCP_OK || status == MCP_MISUSE);
}

static void handle_client(struct pair *pair, size_t length) {
    CHECK(get(pair, length, "/event"));
    if (strcmp(pair->part, "\"ready\"") == 0) {
        for (int i = 0; i < 16; i++) begin_call(pair);
    } else if (strcmp(pair->part, "\"completed\"") == 0) {
        if (get(pair, length, "/outcome/result")) pair->completed++;
        else pair->cancelled++;
        begin_call(pair);
    }
}

static size_t pass_on(struct pair *pair, mcp_connection from, mcp_connection to) {
    size_t length = 0, all = 0;
    while (mcp_output(from, pair->bytes, 1 + all % sizeof pair->bytes, &length) == MCP_OK && length > 0) {
        CHECK(mcp_input(to, pair->now, pair->bytes, length) == MCP_OK);
        CHECK(mcp_written(from, length) == MCP_OK);
        all += length;
    }
    return all;
}

/* Makes `count` calls. */
static void *converse(void *argument) {
    struct pair *pair = argument;
    size_t length = 0, passed;
    CHECK(mcp_server_new(0, BYTES(config), BYTES(catalog), &pair->server) == MCP_OK);
    CHECK(mcp_client_new(0, BYTES(config), &pair->client) == MCP_OK);
    do {
        pair->now += 1000;
        while (mcp_next_event(pair->server, pair->now, pair->event, sizeof pair->event, &length) == MCP_OK)
            handle_server(pair, length);
        while (mcp_next_event(pair->client, pair->now, pair->event, sizeof pair->event, &length) == MCP_OK)
            handle_client(pair, length);
        passed = pass_on(pair, pair->client, pair->server) + pass_on(pair, pair->server, pair->client);
    } while (passed > 0 || pair->completed + pair->cancelled < pair->count);
    CHECK(pair->completed + pair->cancelled == pair->count);
    CHECK(mcp_free(pair->client) == MCP_OK && mcp_free(pair->server) == MCP_OK);
    CHECK(mcp_free(pair->client) == MCP_UNKNOWN_CONNECTION);
    CHECK(mcp_input(pair->server, 0, pair->bytes, 1) == MCP_UNKNOWN_CONNECTION);
    CHECK(mcp_input(0, 0, NULL, 1) == MCP_NULL);
    CHECK(mcp_output(pair->server ^ ((uint64_t)1 << 40), NULL, 0, &length) == MCP_UNKNOWN_CONNECTION);
    return NULL;
}

int main(int count, char **arguments) {
    static struct pair pairs[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pairs[i].count = (count > 1 ? atol(arguments[1]) : 1000) / 2;
        CHECK(pthread_create(&threads[i], NULL, converse, &pairs[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(pairs[i].cancelled > 0 && pairs[i].completed > pairs[i].cancelled);
        printf("%ld calls have completed, %ld were cancelled\n", pairs[i].completed, pairs[i].cancelled);
    }
    return 0;
}
