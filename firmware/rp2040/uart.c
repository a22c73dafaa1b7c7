// The serial line: the unit's own FIFOs of 32 bytes, looked after once a millisecond and whenever a frame is ready
//
// A millisecond of the sensor is 24 bytes at most (3360 Hz, 113 bytes for 16 samples), the FIFO takes 32: no interrupt is
// needed. A host that sends more than 32 bytes in a millisecond makes an overrun, which is reported.
#include "../core/port.h"
#include "../core/ring.h"
#include "board.h"
#include "pins.h"

#define F_CPU 48000000u
#if F_CPU % BAUD != 0 || F_CPU * 4 % BAUD != 0
#error "this clock cannot make this baud rate exactly"
#endif
#define DIVISOR_64 (F_CPU * 4u / BAUD) // in 64ths (4.2.7.1)

void uart_start(void)
{
    pin_function(PIN_TX, FUNCTION_UART, PAD_INPUT);
    pin_function(PIN_RX, FUNCTION_UART, PAD_INPUT | PAD_PULL_UP); // or an open line would whisper commands
    REG(UART_IBRD) = DIVISOR_64 / 64;
    REG(UART_FBRD) = DIVISOR_64 % 64;
    REG(UART_LCR_H) = 3u << 5 | 1u << 4;     // 8N1, FIFOs
    REG(UART_CR) = 1u << 9 | 1u << 8 | 1u;   // receiver, transmitter, on
}

void uart_step(void)
{
    while (ring_tail != ring_head && !(REG(UART_FR) & UART_FR_TXFF)) {
        REG(UART_DR) = ring_bytes[ring_tail];
        ring_tail = (uint8_t)(ring_tail + 1);
    }
}

void port_transmit(void)
{
    uart_step();
}

int16_t port_receive(void)
{
    if (REG(UART_FR) & UART_FR_RXFE)
        return PORT_NOTHING;
    uint32_t word = REG(UART_DR);
    if (word & UART_DR_ERRORS)
        return PORT_LINE_ERROR;
    return (int16_t)(word & 0xFF);
}
