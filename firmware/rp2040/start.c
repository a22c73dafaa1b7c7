// From the boot ROM to main(): vectors, and the copy of the program to RAM
#include <stdint.h>

#include "board.h"

extern uint32_t program_begin[], program_end[], program_source[], bss_begin[], bss_end[], stack_top[];

int main(void);

// A fault means a broken supply or a broken program: start anew, and say so by a new HELLO.
static void fault(void)
{
    REG(0xE000ED0Cu) = 0x05FA0004u; // AIRCR: system reset
    for (;;)
        ;
}

typedef void (*handler)(void);

__attribute__((section(".ramvectors"), used)) static const handler vectors[16 + 1] = {
    (handler)stack_top, 0, fault, fault, 0, 0, 0, 0, 0, 0, 0, fault, 0, 0, fault, fault,
    timer_tick, // interrupt 0: the timer's first alarm
};

void reset(void) __attribute__((section(".start"), noreturn, used));

void reset(void)
{
    // Volatile, or the compiler would make a call to memcpy of these loops, which is not copied yet.
    volatile uint32_t *to = program_begin;
    const volatile uint32_t *from = program_source;
    while (to < program_end)
        *to++ = *from++;
    for (to = bss_begin; to < bss_end; to++)
        *to = 0;
    REG(VTOR) = (uint32_t)program_begin;
    __asm__ volatile("bx %0" ::"r"((uint32_t)&main | 1u));
    __builtin_unreachable();
}

__attribute__((section(".vectors"), used)) static const handler boot_vectors[2] = {(handler)stack_top, (handler)reset};
