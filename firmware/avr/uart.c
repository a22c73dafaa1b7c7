// The serial line: a transmitter fed by interrupt from the ring, a receiver into a small ring of its own
#include <avr/interrupt.h>
#include <avr/io.h>

#include "../core/port.h"
#include "../core/ring.h"
#include "board.h"
#include "pins.h"

// Double speed: 8 clocks a bit, with which 16 and 8 MHz both give 250k, 500k and 1M exactly (20.10). Another rate is
// taken where the clock gives it exactly; 115200 is 2.1 % off at 16 MHz and not offered.
#if F_CPU % (8 * BAUD) != 0 || F_CPU / 8 / BAUD < 1 || F_CPU / 8 / BAUD > 4096
#error "this clock cannot make this baud rate exactly"
#endif
#define DIVISOR (F_CPU / 8 / BAUD - 1)

#define UCSR0B_IDLE (_BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0)) // and UDRIE0 while there is something to send

#define RX_SIZE 32 // a power of two; in the 1.4 ms between two looks at worst, more commands than anybody sends

static struct {
    volatile uint8_t head;
    volatile uint8_t tail;
    volatile uint8_t error;
    uint8_t bytes[RX_SIZE];
} rx;

void uart_start(void)
{
    PORTD |= _BV(PIN_RX); // a pull-up, or an open line would whisper commands
    UCSR0A = _BV(U2X0); // before UBRR0L: simavr works out the byte's time when that is written
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00); // 8N1
    UBRR0H = DIVISOR >> 8;
    UBRR0L = DIVISOR & 0xFF;
    UCSR0B = UCSR0B_IDLE;
}

// 22,600 times a second, so by hand: compiled, it saves nine registers and takes twice as long (which is 5 % of a
// 16 MHz chip, and 10 % of one of 8). No instruction here changes a flag, so SREG needs no saving: the index goes up
// with `ld Z+`, and switching the interrupt off writes the constant that UCSR0B otherwise has.
ISR(USART_UDRE_vect, ISR_NAKED)
{
    __asm__ volatile("push r0 \n\t"
                     "push r30 \n\t"
                     "push r31 \n\t"
                     "lds r30, ring_tail \n\t"
                     "ldi r31, hi8(ring_bytes) \n\t"
                     "ld r0, Z+ \n\t"
                     "sts %[udr], r0 \n\t"
                     "sts ring_tail, r30 \n\t"
                     "lds r31, ring_head \n\t"
                     "cpse r30, r31 \n\t"
                     "rjmp 1f \n\t"
                     "ldi r31, %[idle] \n\t"
                     "sts %[ucsrb], r31 \n"
                     "1: \n\t"
                     "pop r31 \n\t"
                     "pop r30 \n\t"
                     "pop r0 \n\t"
                     "reti" ::[udr] "n"(_SFR_MEM_ADDR(UDR0)),
                     [ucsrb] "n"(_SFR_MEM_ADDR(UCSR0B)), [idle] "M"(UCSR0B_IDLE));
}

// With interrupts off: a handler that empties the ring between our read of the register and our write of it would be
// switched on again, and send what is not there.
void port_transmit(void)
{
    uint8_t status = SREG;
    cli();
    if (ring_tail != ring_head)
        UCSR0B = UCSR0B_IDLE | _BV(UDRIE0);
    SREG = status;
}

// After an error everything is ignored until the core has heard of it (a millisecond at most), so that it hears of it
// in its place: after the bytes that came before, and with none of those that were in the middle of it.
ISR(USART_RX_vect)
{
    uint8_t wrong = UCSR0A & (_BV(FE0) | _BV(DOR0)); // belongs to the byte in UDR0, and is read first (20.7.4)
    uint8_t byte = UDR0;
    uint8_t next = (uint8_t)(rx.head + 1) % RX_SIZE;
    if (rx.error)
        return;
    if (wrong || next == rx.tail) {
        rx.error = 1;
        return;
    }
    rx.bytes[rx.head] = byte;
    rx.head = next;
}

int16_t port_receive(void)
{
    if (rx.tail != rx.head) {
        uint8_t byte = rx.bytes[rx.tail];
        rx.tail = (uint8_t)(rx.tail + 1) % RX_SIZE;
        return byte;
    }
    if (rx.error) {
        rx.error = 0;
        return PORT_LINE_ERROR;
    }
    return PORT_NOTHING;
}
