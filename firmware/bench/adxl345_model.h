// A simulated ADXL345 on an SPI bus, as far as the igloo's firmware can tell
//
// Register file with reset values, standby and measurement, the sixteen data rates, the FIFO's four modes (trigger
// without its trigger), the four data formats and both justifications, the status bits of the FIFO. Not simulated:
// taps, activity, free fall, self-test, sleep, the interrupt pins.
//
// The model has no clock of its own: every call says what time it is, in picoseconds of simulated time (which both
// AVR clocks divide exactly), and the samples that were due since the last call are taken then.
#ifndef ADXL345_MODEL_H
#define ADXL345_MODEL_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t picoseconds;
#define PS_PER_S 1000000000000ULL
#define PS_PER_US 1000000ULL

// The acceleration at the sensor when it takes its next sample: x, y, z in g. Called once a sample, in order.
typedef void (*adxl345_feel)(void *param, double g[3]);

struct adxl345_sample {
    int16_t axis[3];
};

struct adxl345_model {
    uint8_t registers[0x3A];
    uint8_t devid;         // what DEVID answers: 0xE5 unless told otherwise
    bool powered;
    uint8_t open_line;     // what the master reads from MISO when nobody drives it
    int16_t stuck[0x3A];   // a register that keeps this value whatever is written, or -1
    double rate_error;     // the true rate is the nominal one times 1 + this
    adxl345_feel feel;
    void *param;

    picoseconds next_at;   // when the next sample is due, valid in measurement
    struct adxl345_sample fifo[32];
    uint8_t first, level;
    struct adxl345_sample output; // what the data registers show
    bool overrun;

    bool selected, have_command, popping;
    uint8_t command, address;
    picoseconds popped_at;

    // For the statistics.
    uint64_t taken;       // samples that the sensor took
    uint64_t overwritten; // of them, lost in the full FIFO
    uint64_t early_reads; // of FIFO or FIFO_STATUS less than 5 us after the last pop
};

void adxl345_model_init(struct adxl345_model *model, adxl345_feel feel, void *param);
void adxl345_model_power(struct adxl345_model *model, bool on);

// Take the samples that are due.
void adxl345_model_advance(struct adxl345_model *model, picoseconds now);

// The SPI bus, mode 3: chip select (true: low, selected), then bytes. Returns what the master reads.
void adxl345_model_select(struct adxl345_model *model, picoseconds now, bool selected);
uint8_t adxl345_model_exchange(struct adxl345_model *model, picoseconds now, uint8_t byte);

#endif
