/* MCP servers and clients: bytes and JSON in, bytes and JSON out, one deadline.
 *
 * A connection is a machine without IO, clock and threads. A program repeats:
 *
 *   1. send what mcp_output returns, and tell mcp_written how much was sent;
 *   2. handle the events of mcp_next_event;
 *   3. wait for input (while mcp_wants_input says so), or until mcp_deadline;
 *   4. call mcp_input, mcp_end_of_input or mcp_timeout.
 *
 * Keep reading while a write is blocked. The connection is over when mcp_is_closed says so, all
 * events are read and all bytes are sent.
 *
 * Time is in nanoseconds since any point, such as CLOCK_MONOTONIC; it may not run backwards.
 * Texts are UTF-8 and have a length, without a zero byte at the end. Memory is the caller's: it is
 * read and written during a call only. A buffer may be null if its capacity is 0.
 * All functions may be called from any thread; calls on one connection wait for each other.
 */
#ifndef MCP_H
#define MCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A client or a server. 0 is none. A handle that was freed is not used again. */
typedef uint64_t mcp_connection;

/* What became of a call. Numbers are never changed. Except after MCP_OK, MCP_NONE and
 * MCP_TOO_SMALL, mcp_last_error has a message. */
typedef enum mcp_status {
    MCP_OK = 0,
    MCP_NONE = 1,               /* there is nothing to return */
    MCP_TOO_SMALL = 2,          /* the buffer; the length is what it needs, nothing is consumed */
    MCP_NULL = 3,               /* a pointer is null */
    MCP_UNKNOWN_CONNECTION = 4, /* freed, or never existed */
    MCP_INVALID_JSON = 5,       /* no JSON, or it says what cannot be understood */
    MCP_MISUSE = 6,             /* the command or an argument cannot be applied; nothing changed */
    MCP_FAULT = 7               /* of this library: free the connection */
} mcp_status;

/* Returns the version of the library, a static text that ends with a zero byte. */
const char *mcp_version(void);

/* Creates a server from its configuration. The catalog, an object with any of the arrays "tools",
 * "resources", "resourceTemplates" and "prompts", is what the server lists by itself; requests for
 * anything else are refused, and the others become events. An empty catalog (length 0) lists
 * nothing: all requests for declared capabilities become events. */
mcp_status mcp_server_new(uint64_t now, const uint8_t *config, size_t config_length,
                          const uint8_t *catalog, size_t catalog_length,
                          mcp_connection *connection);

/* Creates a client from its configuration. */
mcp_status mcp_client_new(uint64_t now, const uint8_t *config, size_t config_length,
                          mcp_connection *connection);

/* Frees a connection, without a goodbye to the peer: send {"command":"close"} before. */
mcp_status mcp_free(mcp_connection connection);

/* Handles received bytes, which may be split anywhere: at most `limits.input_bytes_max` (64 KiB) at
 * a time, so that memory is bounded. */
mcp_status mcp_input(mcp_connection connection, uint64_t now, const uint8_t *bytes, size_t length);

/* Handles the end of the input: the peer has closed its side. */
mcp_status mcp_end_of_input(mcp_connection connection, uint64_t now);

/* Advances the time. Early, late and repeated calls are harmless. */
mcp_status mcp_timeout(mcp_connection connection, uint64_t now);

/* Returns when to call mcp_timeout. MCP_NONE if nothing is due. It may change with each call. */
mcp_status mcp_deadline(mcp_connection connection, uint64_t *deadline);

/* Returns whether to read more. While not, leave input unread, which slows the peer down. */
mcp_status mcp_wants_input(mcp_connection connection, bool *wants_input);

/* Returns whether the connection is closed. Events and bytes to send may be left. */
mcp_status mcp_is_closed(mcp_connection connection, bool *is_closed);

/* Copies up to capacity bytes to send, and sets length to their number, 0 if there are none. They
 * are returned again until mcp_written removes them. */
mcp_status mcp_output(mcp_connection connection, uint8_t *buffer, size_t capacity, size_t *length);

/* Removes bytes that were sent. More than there are is MCP_MISUSE, and removes none. */
mcp_status mcp_written(mcp_connection connection, size_t count);

/* Copies the oldest event, a JSON object, and removes it. MCP_NONE if there is none. If the event
 * does not fit, it stays. */
mcp_status mcp_next_event(mcp_connection connection, uint64_t now, uint8_t *buffer,
                          size_t capacity, size_t *length);

/* Applies a command, a JSON object. If it starts a call and call is not null, sets call to its
 * number, under which events report it. */
mcp_status mcp_command(mcp_connection connection, uint64_t now, const uint8_t *command,
                       size_t length, uint64_t *call);

/* Copies the value that a JSON pointer (RFC 6901; ends with a zero byte) names, as JSON. MCP_NONE
 * if there is no such value. For programs without a JSON library. */
mcp_status mcp_json_get(const uint8_t *json, size_t json_length, const char *pointer,
                        uint8_t *buffer, size_t capacity, size_t *length);

/* As mcp_json_get, for a string: copies it without quotes and escapes. MCP_NONE if the value is no
 * string. */
mcp_status mcp_json_text(const uint8_t *json, size_t json_length, const char *pointer,
                         uint8_t *buffer, size_t capacity, size_t *length);

/* Copies the message of the last failure on this thread, as far as it fits. */
mcp_status mcp_last_error(uint8_t *buffer, size_t capacity, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
