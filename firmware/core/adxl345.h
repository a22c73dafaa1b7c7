// The ADXL345 accelerometer: set up for 3200 Hz, proven to be so, and read
#ifndef IGLOO_ADXL345_H
#define IGLOO_ADXL345_H

#include <stdint.h>

#define ADXL345_DEVID 0xE5
#define ADXL345_RATE_HZ 3200
#define ADXL345_UG_PER_LSB 3906 // 256 LSB/g in full resolution (data sheet rev. G, p. 3, Table 1)
#define ADXL345_FIFO_SIZE 32
#define ADXL345_SAMPLE_SIZE 6

// What a look at the sensor finds; the numbers are those of the STATUS frame.
enum adxl345_found {
    ADXL345_OK = 0,
    ADXL345_MISSING = 1,   // another device id answers, or none
    ADXL345_UNWILLING = 2, // the id is right, but the configuration does not read back
};

// What was last read of the sensor, for HELLO.
struct adxl345_facts {
    uint8_t devid;
    uint8_t bw_rate;
    uint8_t data_format;
};

// Configure the sensor anew, empty its FIFO and begin to measure.
enum adxl345_found adxl345_set_up(struct adxl345_facts *facts);

// Compare the whole configuration with what it should be, without touching it.
enum adxl345_found adxl345_check(struct adxl345_facts *facts);

uint8_t adxl345_devid(void);

// Samples in the FIFO, 0 to 33; ADXL345_NO_LEVEL where the answer cannot come from an ADXL345.
#define ADXL345_NO_LEVEL 0xFF
uint8_t adxl345_level(void);

// Take the oldest sample from the FIFO: x, y, z as i16, little-endian, as the sensor and the line have them.
void adxl345_sample(uint8_t *xyz);

#endif
