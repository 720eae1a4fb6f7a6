// A server and a client in C++17 that talk in memory: handles that free themselves, errors that are
// thrown, and time that the program chooses.
#include <mcp.h>

#include <cstdio>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace {

const std::uint8_t *bytes(std::string_view text) {
    return reinterpret_cast<const std::uint8_t *>(text.data());
}

// Calls a function that fills a buffer, with a larger buffer if it has to be.
template <typename Fill> bool fill(std::string &to, Fill fill) {
    to.resize(256);
    for (;;) {
        std::size_t length = 0;
        mcp_status status = fill(reinterpret_cast<std::uint8_t *>(to.data()), to.size(), &length);
        to.resize(status == MCP_NONE ? 0 : length);
        if (status != MCP_TOO_SMALL) return status == MCP_OK;
    }
}

void check(mcp_status status) {
    std::string why;
    if (status == MCP_OK) return;
    fill(why, mcp_last_error);
    throw std::runtime_error(why);
}

class Connection {
  public:
    static Connection server(std::string_view config, std::string_view catalog) {
        Connection made;
        check(mcp_server_new(0, bytes(config), config.size(), bytes(catalog), catalog.size(),
                             &made.handle));
        return made;
    }
    static Connection client(std::string_view config) {
        Connection made;
        check(mcp_client_new(0, bytes(config), config.size(), &made.handle));
        return made;
    }
    Connection(Connection &&other) noexcept : handle(std::exchange(other.handle, 0)) {}
    Connection &operator=(Connection &&) = delete;
    ~Connection() { mcp_free(handle); }

    void command(std::string_view json) const {
        check(mcp_command(handle, 0, bytes(json), json.size(), nullptr));
    }
    bool next_event(std::string &event) const {
        return fill(event, [this](auto *to, auto size, auto *length) {
            return mcp_next_event(handle, 0, to, size, length);
        });
    }
    // Passes all output on. Returns whether there was any.
    bool send_to(const Connection &peer) const {
        std::uint8_t part[512];
        std::size_t length = 0, all = 0;
        for (; mcp_output(handle, part, sizeof part, &length) == MCP_OK && length > 0; all += length) {
            check(mcp_input(peer.handle, 0, part, length));
            check(mcp_written(handle, length));
        }
        return all > 0;
    }

  private:
    Connection() = default;
    mcp_connection handle = 0;
};

std::string get(const std::string &json, const char *pointer) {
    std::string part;
    fill(part, [&](auto *to, auto size, auto *length) {
        return mcp_json_get(bytes(json), json.size(), pointer, to, size, length);
    });
    return part;
}

} // namespace

int main() try {
    auto server = Connection::server(R"({"info":{"name":"cpp-server","version":"1"}})", R"({"tools":[
        {"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]})");
    auto client = Connection::client(R"({"info":{"name":"cpp-client","version":"1"}})");
    std::string event, result;
    do {
        while (server.next_event(event)) {
            auto text = get(event, "/request/params/arguments/text");
            if (text.empty()) continue;
            server.command(R"({"command":"respond","incoming":)" + get(event, "/incoming") +
                           R"(,"result":{"content":[{"type":"text","text":)" + text + "}]}}");
        }
        while (client.next_event(event)) {
            if (get(event, "/event") == "\"ready\"")
                client.command(R"({"command":"call","method":"tools/call","params":
                    {"name":"echo","arguments":{"text":"x"}},"options":{}})");
            if (get(event, "/event") == "\"completed\"") result = get(event, "/outcome/result");
        }
    } while (client.send_to(server) | server.send_to(client));
    std::puts(result.c_str());
    return result.empty() ? 1 : 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
