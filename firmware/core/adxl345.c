// The ADXL345 accelerometer: set up for 3200 Hz, proven to be so, and read
//
// Page numbers are those of the data sheet, revision G.
//
// Wires fall off, modules are jumpered for I2C, and a supply that dips for a millisecond turns a measuring sensor
// into one that sleeps with its reset values. So nothing is believed that was not read back: the configuration after
// it was written, the device id after each frame of samples (igloo.c), the whole configuration a few times a second.
#include "adxl345.h"

#include "port.h"

#define READ 0x80     // p. 14-15, Figure 37-38: R/W is the first bit of the address byte,
#define MULTIPLE 0x40 // MB the second: the address moves on with each byte

#define REG_DEVID 0x00
#define REG_OFSX 0x1E
#define REG_OFSY 0x1F
#define REG_OFSZ 0x20
#define REG_BW_RATE 0x2C
#define REG_POWER_CTL 0x2D
#define REG_INT_ENABLE 0x2E
#define REG_DATA_FORMAT 0x31
#define REG_DATAX0 0x32
#define REG_FIFO_CTL 0x38
#define REG_FIFO_STATUS 0x39

#define BW_RATE_3200 0x0F      // p. 13, Table 7; LOW_POWER clear
#define POWER_STANDBY 0x00     // p. 26
#define POWER_MEASURE 0x08     // link, auto-sleep and sleep off
#define FORMAT_FULL_16G 0x0B   // p. 27: FULL_RES, +-16 g, right-justified, 4-wire SPI, no self-test
#define FIFO_BYPASS 0x00       // p. 28
#define FIFO_STREAM_16 0x90    // stream: keep the latest 32; watermark 16, only to be seen with a logic analyser

// In the order in which they are written. Standby first, where the data sheet wants the part configured (p. 12).
// Bypass empties the FIFO (p. 21), which standby does not, so that no old sample is taken for a new one.
// Offsets are ours to clear: a sketch that ran on the board before may have left its calibration in the sensor.
static const struct {
    uint8_t address;
    uint8_t value;
} settings[] = {
    {REG_POWER_CTL, POWER_STANDBY},
    {REG_OFSX, 0},
    {REG_OFSY, 0},
    {REG_OFSZ, 0},
    {REG_BW_RATE, BW_RATE_3200},
    {REG_INT_ENABLE, 0},
    {REG_DATA_FORMAT, FORMAT_FULL_16G},
    {REG_FIFO_CTL, FIFO_BYPASS},
    {REG_FIFO_CTL, FIFO_STREAM_16},
    {REG_POWER_CTL, POWER_MEASURE},
};

#define SETTINGS (sizeof settings / sizeof settings[0])
// The first and the bypass are passed through on the way and are not there to be read back.
#define PASSED_THROUGH(i) ((i) == 0 || (i) == 7)

static uint8_t read_register(uint8_t address)
{
    uint8_t value;
    port_sensor_read(READ | address, &value, 1);
    return value;
}

uint8_t adxl345_devid(void)
{
    return read_register(REG_DEVID);
}

enum adxl345_found adxl345_check(struct adxl345_facts *facts)
{
    enum adxl345_found found = ADXL345_OK;
    facts->devid = adxl345_devid();
    for (uint8_t i = 0; i < SETTINGS; i++) {
        uint8_t value = read_register(settings[i].address);
        if (settings[i].address == REG_BW_RATE)
            facts->bw_rate = value;
        if (settings[i].address == REG_DATA_FORMAT)
            facts->data_format = value;
        if (!PASSED_THROUGH(i) && value != settings[i].value)
            found = ADXL345_UNWILLING;
    }
    return facts->devid == ADXL345_DEVID ? found : ADXL345_MISSING;
}

enum adxl345_found adxl345_set_up(struct adxl345_facts *facts)
{
    // A stranger on the bus is not written to: another sensor on the same wires may be somebody else's.
    if (adxl345_devid() == ADXL345_DEVID)
        for (uint8_t i = 0; i < SETTINGS; i++)
            port_sensor_write(settings[i].address, settings[i].value);
    return adxl345_check(facts);
}

// Bit 7 is a trigger event (never in stream mode), bit 6 is always 0, at most 33 entries are possible: 32 in the
// FIFO and one in the output filter (p. 28). An open MISO line, pulled up, reads 0xFF and is caught here. One that
// reads 0x00 looks like an empty FIFO and is caught by the silence that follows (igloo.c).
uint8_t adxl345_level(void)
{
    port_sensor_pause();
    uint8_t status = read_register(REG_FIFO_STATUS);
    return status > ADXL345_FIFO_SIZE + 1 ? ADXL345_NO_LEVEL : status;
}

// All six bytes in one burst: a shorter read would pop the sample and lose the rest of it (p. 21).
void adxl345_sample(uint8_t *xyz)
{
    port_sensor_pause();
    port_sensor_read(READ | MULTIPLE | REG_DATAX0, xyz, ADXL345_SAMPLE_SIZE);
}
