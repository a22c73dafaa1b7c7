// Time: microseconds from timer 1, the tick of 1 ms from timer 0, and sleep in between
#include <avr/interrupt.h>
#include <avr/sleep.h>

#include "../core/port.h"
#include "board.h"

#if F_CPU != 16000000UL && F_CPU != 8000000UL
#error "the clock is known for 16 and 8 MHz"
#endif

/****************************************************************
 * Microseconds
 ****************************************************************/

// Timer 1 counts F_CPU / 8: 2 or 1 ticks a microsecond. Its overflows are added up in microseconds, not counted, so
// that the sum wraps at 2^32 us and not earlier.
#define TICKS_PER_US (F_CPU / 8 / 1000000UL)
#define OVERFLOW_US (0x10000UL / TICKS_PER_US)

static volatile uint32_t overflows_us;

ISR(TIMER1_OVF_vect)
{
    overflows_us += OVERFLOW_US;
}

uint32_t port_now_us(void)
{
    uint8_t status = SREG;
    cli();
    uint32_t us = overflows_us;
    uint16_t ticks = TCNT1;
    // An overflow that came after cli() has not been added yet; a small count tells that it came before TCNT1.
    if ((TIFR1 & _BV(TOV1)) && ticks < 0x8000)
        us += OVERFLOW_US;
    SREG = status;
    return us + ticks / TICKS_PER_US;
}

/****************************************************************
 * The tick, and sleep
 ****************************************************************/

// The transmitter's interrupt wakes the chip 22,600 times a second, the tick 1,000 times. Only the tick is worth a
// poll, so the tick leaves a mark and port_wait() sleeps on without it. The mark is a bit in the one register that
// `sbi` reaches, which changes no flag: so the handler needs no register saved, and the loop two cycles to look.
#define TICK_MARK 0

ISR(TIMER0_COMPA_vect, ISR_NAKED)
{
    __asm__ volatile("sbi %0, %1\n\treti" ::"I"(_SFR_IO_ADDR(GPIOR0)), "I"(TICK_MARK));
}

void clock_start(void)
{
    TCCR1A = 0; // an old boot loader jumps here without a reset, so nothing is taken for granted
    TCCR1B = _BV(CS11);
    TIMSK1 = _BV(TOIE1);
    TCCR0A = _BV(WGM01); // clear on compare match
    OCR0A = F_CPU / 64 / 1000 - 1;
    TIMSK0 = _BV(OCIE0A);
    TCCR0B = _BV(CS01) | _BV(CS00); // F_CPU / 64
    set_sleep_mode(SLEEP_MODE_IDLE); // the deeper modes stop the clocks of UART and timers (10.2)
    sleep_enable();
}

// `sei` lets one more instruction run before an interrupt, so between the look at the mark and `sleep` none can slip
// in (7.7). The `nop` is for simavr 1.6: there an interrupt is served two instructions after `sei`, and one that
// is pending keeps it from sleeping, so that `sei; sleep; cli` would go round for ever without serving it.
void port_wait(void)
{
    unit_step();
    cli();
    while (!(GPIOR0 & _BV(TICK_MARK))) {
        sei();
        sleep_cpu();
        __asm__ volatile("nop");
        cli();
    }
    GPIOR0 &= (uint8_t)~_BV(TICK_MARK);
    sei();
}
