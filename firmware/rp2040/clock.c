// Time: 48 MHz from the crystal, the timer's microseconds, the tick of 1 ms from its first alarm, and sleep in between
#include "../core/port.h"
#include "board.h"

#define TICK_US 1000u

static volatile uint32_t tick_due;
static volatile uint32_t ticked;

void clock_start(void)
{
    uint32_t units = RESET_IO_BANK0 | RESET_PADS_BANK0 | RESET_PLL_USB | RESET_SPI0 | RESET_TIMER | RESET_UART0;
    REG(XOSC_STARTUP) = 47;       // 1 ms (2.16.3)
    REG(XOSC_CTRL) = 0xFABAA0u;   // enabled, 1 to 15 MHz
    while (!(REG(XOSC_STATUS) & (1u << 31)))
        ;
    // Back to the plain clocks first, in case a debugger started us without a reset.
    CLEAR(CLK_SYS_CTRL) = 1;
    while (REG(CLK_SYS_SELECTED) != 1)
        ;
    REG(CLK_REF_CTRL) = 2; // the crystal
    while (REG(CLK_REF_SELECTED) != 1u << 2)
        ;
    SET(RESETS_RESET) = RESET_PLL_USB;
    CLEAR(RESETS_RESET) = units;
    while ((REG(RESETS_DONE) & units) != units)
        ;
    REG(PLL_USB_CS) = 1;                  // the crystal, not divided
    REG(PLL_USB_FBDIV) = 100;             // 1200 MHz
    CLEAR(PLL_USB_PWR) = 0x21;            // power and oscillator on (2.18.2)
    while (!(REG(PLL_USB_CS) & (1u << 31)))
        ;
    REG(PLL_USB_PRIM) = 5u << 16 | 5u << 12; // divided by 25
    CLEAR(PLL_USB_PWR) = 0x08;
    REG(CLK_SYS_CTRL) = 1u << 5;          // auxiliary source: the USB PLL
    SET(CLK_SYS_CTRL) = 1;
    while (REG(CLK_SYS_SELECTED) != 2)
        ;
    REG(CLK_PERI_CTRL) = 1u << 11;        // on, from the system clock
    REG(WATCHDOG_TICK) = 1u << 9 | 12;    // the timer's microsecond from the crystal
    tick_due = REG(TIMER_RAWL) + TICK_US;
    REG(TIMER_INTE) = 1;
    REG(TIMER_ALARM0) = tick_due;
    REG(NVIC_ISER) = 1;
}

uint32_t port_now_us(void)
{
    return REG(TIMER_RAWL);
}

// The alarm compares for equality only (4.6.3): one that is already past would wait 71 minutes, so it is looked at again.
void timer_tick(void)
{
    REG(TIMER_INTR) = 1;
    ticked = 1;
    do {
        tick_due += TICK_US;
        REG(TIMER_ALARM0) = tick_due;
    } while ((int32_t)(REG(TIMER_RAWL) - tick_due) >= 0);
}

// With interrupts off a pending one still ends WFI, so none can slip in between the look and the sleep.
void port_wait(void)
{
    for (;;) {
        uart_step();
        __asm__ volatile("cpsid i" ::: "memory");
        if (ticked)
            break;
        __asm__ volatile("wfi \n\t cpsie i" ::: "memory");
    }
    ticked = 0;
    __asm__ volatile("cpsie i" ::: "memory");
}
