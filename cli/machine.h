/* What this machine is, in words: for reports whose numbers depend on it. */
#ifndef CLI_MACHINE_H
#define CLI_MACHINE_H

#include <stddef.h>

#define CLI_CPU_TEXT 128
/* "AMD EPYC 9354" into out[CLI_CPU_TEXT], "unknown processor" where the system does not tell;
 * returns out. */
const char *cli_cpu_model(char *out);
/* Processors on line, and bytes of memory; 0 where the system does not tell. */
size_t cli_processors(void);
size_t cli_memory_bytes(void);

#endif
