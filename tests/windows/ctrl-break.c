/* ctrl-break GROUP: sends Ctrl-Break to a process group of this console. */
#include <stdlib.h>
#include <windows.h>

int main(int count, char **arguments) {
    if (count != 2) return 2;
    return GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, strtoul(arguments[1], NULL, 10)) ? 0 : 1;
}
