// memcpy and memset, byte by byte: a frame is 111 bytes. Built with -fno-tree-loop-distribute-patterns, or the compiler
// would make a call to memcpy of memcpy.
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memset(void *at, int value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((char *)at)[i] = (char)value;
    return at;
}
