/* Functions of ISO C with variable arguments: each hands them on as a va_list, which Rust cannot make (io.md, 2.6). The exported
 * names jump here, see variadic.rs. */
#include <stdarg.h>
#include <stdio.h>

/* By their positions in the tables of variadic.rs. */
enum { FPRINTF, PRINTF, FPRINTF_CHK, PRINTF_CHK };
enum { FSCANF, SCANF, ISOC99_FSCANF, ISOC99_SCANF, ISOC23_FSCANF, ISOC23_SCANF };

int replay_stdio_print(int function, FILE *stream, int strictness, const char *format, va_list list);
int replay_stdio_scan(int function, FILE *stream, const char *format, va_list list);

#define HAND_ON(call)                                                                                              \
    va_list list;                                                                                                  \
    va_start(list, format);                                                                                        \
    const int result = call;                                                                                       \
    va_end(list);                                                                                                  \
    return result

#define PRINT(name, function, stream, strictness, ...)                                                             \
    int name(__VA_ARGS__, const char *format, ...);                                                                \
    int name(__VA_ARGS__, const char *format, ...) {                                                               \
        HAND_ON(replay_stdio_print(function, stream, strictness, format, list));                                   \
    }

#define SCAN(name, function)                                                                                       \
    int name(FILE *stream, const char *format, ...);                                                               \
    int name(FILE *stream, const char *format, ...) { HAND_ON(replay_stdio_scan(function, stream, format, list)); }

#define SCAN_STANDARD(name, function)                                                                              \
    int name(const char *format, ...);                                                                             \
    int name(const char *format, ...) { HAND_ON(replay_stdio_scan(function, stdin, format, list)); }

PRINT(replay_stdio_fprintf, FPRINTF, stream, 0, FILE *stream)
PRINT(replay_stdio_fprintf_chk, FPRINTF_CHK, stream, strictness, FILE *stream, int strictness)
PRINT(replay_stdio_printf_chk, PRINTF_CHK, stdout, strictness, int strictness)

int replay_stdio_printf(const char *format, ...);
int replay_stdio_printf(const char *format, ...) { HAND_ON(replay_stdio_print(PRINTF, stdout, 0, format, list)); }

SCAN(replay_stdio_fscanf, FSCANF)
SCAN(replay_stdio_isoc99_fscanf, ISOC99_FSCANF)
SCAN(replay_stdio_isoc23_fscanf, ISOC23_FSCANF)
SCAN_STANDARD(replay_stdio_scanf, SCANF)
SCAN_STANDARD(replay_stdio_isoc99_scanf, ISOC99_SCANF)
SCAN_STANDARD(replay_stdio_isoc23_scanf, ISOC23_SCANF)
