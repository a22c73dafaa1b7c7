// The two functions of the C library that the core and its compiler use; so no C library is needed (memory.c)
#ifndef IGLOO_RP2040_STRING_H
#define IGLOO_RP2040_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memset(void *at, int value, size_t count);

#endif
