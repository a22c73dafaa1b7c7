// The sensor's SPI: 4 MHz, mode 3, chip select by hand (the unit's own goes up between bytes in other modes)
#include "../core/port.h"
#include "board.h"
#include "pins.h"

#define FIFO 8u // bytes that the unit holds each way

static uint32_t read_at;

void spi_start(void)
{
    REG(SIO_OUT_SET) = 1u << PIN_CS;
    REG(SIO_OE_SET) = 1u << PIN_CS;
    pin_function(PIN_CS, FUNCTION_SIO, PAD_INPUT);
    pin_function(PIN_SCK, FUNCTION_SPI, PAD_INPUT);
    pin_function(PIN_MOSI, FUNCTION_SPI, PAD_INPUT);
    // The pull-up makes a missing sensor answer 0xFF each time instead of whatever the wire picks up.
    pin_function(PIN_MISO, FUNCTION_SPI, PAD_INPUT | PAD_PULL_UP);
    REG(SPI_CPSR) = 12;                     // 48 MHz / 12
    REG(SPI_CR0) = 1u << 7 | 1u << 6 | 7u;  // mode 3, 8 bits
    REG(SPI_CR1) = 1u << 1;                 // on, as master
}

// One byte out and one in; what comes in with the command is nothing.
static void transfer(uint8_t command, const uint8_t *out, uint8_t *into, uint32_t count)
{
    uint32_t sent = 0, received = 0, total = count + 1;
    REG(SIO_OUT_CLEAR) = 1u << PIN_CS;
    while (received < total) {
        if (sent < total && sent - received < FIFO && (REG(SPI_SR) & SPI_SR_TNF)) {
            REG(SPI_DR) = sent == 0 ? command : out ? out[sent - 1] : 0;
            sent++;
        }
        if (REG(SPI_SR) & SPI_SR_RNE) {
            uint8_t byte = (uint8_t)REG(SPI_DR);
            if (received > 0 && into)
                into[received - 1] = byte;
            received++;
        }
    }
    while (REG(SPI_SR) & SPI_SR_BSY)
        ;
    REG(SIO_OUT_SET) = 1u << PIN_CS;
}

void port_sensor_read(uint8_t command, uint8_t *into, uint8_t count)
{
    transfer(command, 0, into, count);
    read_at = REG(TIMER_RAWL);
}

void port_sensor_write(uint8_t command, uint8_t value)
{
    transfer(command, &value, 0, 1);
}

// Six and not five: the timer's microsecond may have been about to end when it was read.
void port_sensor_pause(void)
{
    while (REG(TIMER_RAWL) - read_at < 6)
        ;
}
