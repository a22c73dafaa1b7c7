// The SPI master of the ATmega328P, cycle-exact, with the sensor on it
//
// simavr 1.6 takes 100 us for every byte, whatever the divider. So its three registers are taken over: a byte takes
// eight bit times of the programmed clock and one cycle more, and SPIF is worked out from the cycle counter when
// somebody looks, without a timer. Register and bit names are those of the data sheet 8271H, chapter 19.
#include <simavr/avr_ioport.h>
#include <simavr/sim_io.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { SPCR = 0x4C, SPSR = 0x4D, SPDR = 0x4E }; // addresses in data space
enum { SPIF = 0x80, WCOL = 0x40, SPI2X = 0x01 };
enum { SPIE = 0x80, SPE = 0x40, DORD = 0x20, MSTR = 0x10, CPOL = 0x08, CPHA = 0x04 };
#define CS_PORT 'B'
#define CS_PIN 2

struct spi_counts spi_counts;

static struct {
    uint64_t done_at; // cycle
    bool busy;        // a transfer was begun and its SPIF not yet cleared
    bool collided;
    bool seen;        // SPSR was read with SPIF set: the next access of SPDR clears it
    uint8_t received;
} spi;

static uint64_t cycles_per_byte(void)
{
    static const unsigned dividers[] = {4, 16, 64, 128};
    unsigned divider = dividers[bench.avr->data[SPCR] & 3];
    if (bench.avr->data[SPSR] & SPI2X)
        divider /= 2;
    return 8 * divider + 1;
}

static uint8_t transfer(uint8_t byte)
{
    uint8_t control = bench.avr->data[SPCR];
    uint64_t bit_ps = (cycles_per_byte() - 1) / 8 * bench.ps_per_cycle;
    bool mode_3 = (control & (DORD | CPOL | CPHA)) == (CPOL | CPHA);
    if (!mode_3 || bit_ps < PS_PER_S / 5000000) {
        spi_counts.refused++;
        return bench.sensor.open_line;
    }
    return adxl345_model_exchange(&bench.sensor, bench_now(), byte);
}

static void write_data(avr_t *avr, avr_io_addr_t addr, uint8_t byte, void *param)
{
    (void)addr, (void)param;
    uint8_t control = avr->data[SPCR];
    if (control & SPIE || !(control & MSTR)) {
        fprintf(stderr, "bench: the SPI interrupt and slave mode are not simulated\n");
        exit(1);
    }
    if (!(control & SPE))
        return;
    if (spi.busy && avr->cycle < spi.done_at) {
        spi.collided = true;
        spi_counts.collisions++;
        return;
    }
    spi_counts.bytes++;
    spi.received = transfer(byte);
    spi.done_at = avr->cycle + cycles_per_byte();
    spi.busy = true;
    spi.seen = false;
}

static uint8_t read_status(avr_t *avr, avr_io_addr_t addr, void *param)
{
    (void)param;
    uint8_t status = avr->data[addr] & SPI2X;
    if (spi.busy && avr->cycle >= spi.done_at) {
        status |= SPIF;
        spi.seen = true;
    }
    if (spi.collided)
        status |= WCOL;
    return status;
}

static void write_status(avr_t *avr, avr_io_addr_t addr, uint8_t value, void *param)
{
    (void)param;
    avr->data[addr] = value & SPI2X;
}

static uint8_t read_data(avr_t *avr, avr_io_addr_t addr, void *param)
{
    (void)avr, (void)addr, (void)param;
    if (spi.seen) {
        spi.busy = false;
        spi.seen = false;
        spi.collided = false;
    }
    return spi.received;
}

static void chip_select(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq, (void)param;
    adxl345_model_select(&bench.sensor, bench_now(), !value);
}

void spi_reset(void)
{
    spi.busy = spi.collided = spi.seen = false;
    adxl345_model_select(&bench.sensor, bench_now(), false);
}

void spi_attach(void)
{
    avr_t *avr = bench.avr;
    // avr_register_io_read() refuses a register that has a reader; here the old one is meant to go.
    avr->io[AVR_DATA_TO_IO(SPDR)].w.c = write_data;
    avr->io[AVR_DATA_TO_IO(SPDR)].r.c = read_data;
    avr->io[AVR_DATA_TO_IO(SPSR)].w.c = write_status;
    avr->io[AVR_DATA_TO_IO(SPSR)].r.c = read_status;
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(CS_PORT), CS_PIN), chip_select, NULL);
}
