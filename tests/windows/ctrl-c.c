/* ctrl-c PROCESS: sends Ctrl-C to the processes of the console of a process. */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static int fail(const char *what) {
    fprintf(stderr, "%s: error %lu\n", what, GetLastError());
    return 1;
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    FreeConsole();
    if (!AttachConsole(strtoul(arguments[1], NULL, 10))) return fail("AttachConsole");
    /* This process must not be ended by the event. */
    if (!SetConsoleCtrlHandler(NULL, TRUE)) return fail("SetConsoleCtrlHandler");
    if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0)) return fail("GenerateConsoleCtrlEvent");
    return 0;
}
