// A simulated ADXL345 on an SPI bus, as far as the igloo's firmware can tell
//
// Written from the data sheet (revision G; page numbers in comments) and not from the firmware's driver, so that the
// two can disagree.
#include "adxl345_model.h"

#include <math.h>
#include <string.h>

enum {
    DEVID = 0x00,
    OFSX = 0x1E,
    ACT_TAP_STATUS = 0x2B,
    BW_RATE = 0x2C,
    POWER_CTL = 0x2D,
    INT_SOURCE = 0x30,
    DATA_FORMAT = 0x31,
    DATAX0 = 0x32,
    DATAZ1 = 0x37,
    FIFO_CTL = 0x38,
    FIFO_STATUS = 0x39,
    REGISTERS = 0x3A,
};

enum { MODE_BYPASS = 0, MODE_FIFO = 1, MODE_STREAM = 2, MODE_TRIGGER = 3 };

#define SETTLE_PS (5 * PS_PER_US) // p. 21: from the end of a data read to the next read of FIFO or FIFO_STATUS

static uint8_t mode(const struct adxl345_model *model)
{
    return model->registers[FIFO_CTL] >> 6;
}

static bool measuring(const struct adxl345_model *model)
{
    return model->powered && (model->registers[POWER_CTL] & 0x08);
}

static picoseconds period(const struct adxl345_model *model)
{
    double hz = 3200.0 / (double)(1u << (15 - (model->registers[BW_RATE] & 0x0F))); // p. 13, Table 7
    return (picoseconds)llround((double)PS_PER_S / (hz * (1.0 + model->rate_error)));
}

/****************************************************************
 * Samples
 ****************************************************************/

// p. 27: full resolution keeps 256 LSB/g and widens the word with the range; otherwise ten bits span the range.
static int16_t convert(const struct adxl345_model *model, double g, int axis)
{
    uint8_t format = model->registers[DATA_FORMAT];
    uint8_t range = format & 0x03;
    bool full = (format & 0x08) || range == 0;
    int bits = format & 0x08 ? 10 + range : 10;
    double per_g = full ? 256.0 : 256.0 / (double)(1 << range);
    g += (double)(int8_t)model->registers[OFSX + axis] * 0.0156; // p. 24
    long value = lround(g * per_g);
    long top = (1L << (bits - 1)) - 1;
    value = value > top ? top : value < -top - 1 ? -top - 1 : value;
    bool fast = (model->registers[BW_RATE] & 0x0F) >= 0x0E;
    if (fast && full)
        value &= ~1L; // p. 32
    if (format & 0x04)
        value *= 1L << (16 - bits);
    return (int16_t)value;
}

static void take(struct adxl345_model *model)
{
    double g[3] = {0, 0, 0};
    struct adxl345_sample sample;
    model->feel(model->param, g);
    for (int axis = 0; axis < 3; axis++)
        sample.axis[axis] = convert(model, g[axis], axis);
    model->taken++;
    if (mode(model) == MODE_BYPASS) {
        model->output = sample;
        return;
    }
    if (model->level == 32) {
        model->overwritten++;
        if (mode(model) == MODE_FIFO)
            return; // p. 21: full, collects no more
        model->first = (uint8_t)((model->first + 1) % 32);
        model->level--;
    }
    model->fifo[(model->first + model->level) % 32] = sample;
    model->level++;
    if (model->level == 32)
        model->overrun = true; // p. 20: set when the FIFO is filled
}

void adxl345_model_advance(struct adxl345_model *model, picoseconds now)
{
    if (!measuring(model))
        return;
    picoseconds step = period(model);
    while (model->next_at <= now) {
        take(model);
        model->next_at += step;
    }
}

/****************************************************************
 * Registers
 ****************************************************************/

static void reset(struct adxl345_model *model)
{
    memset(model->registers, 0, sizeof model->registers);
    model->registers[BW_RATE] = 0x0A;
    model->first = model->level = 0;
    model->overrun = false;
    model->have_command = model->popping = false;
    memset(&model->output, 0, sizeof model->output);
}

void adxl345_model_init(struct adxl345_model *model, adxl345_feel feel, void *param)
{
    memset(model, 0, sizeof *model);
    for (int i = 0; i < REGISTERS; i++)
        model->stuck[i] = -1;
    model->devid = 0xE5;
    model->open_line = 0xFF;
    model->powered = true;
    model->feel = feel;
    model->param = param;
    reset(model);
}

void adxl345_model_power(struct adxl345_model *model, bool on)
{
    if (on && !model->powered)
        reset(model);
    model->powered = on;
}

static void settled(struct adxl345_model *model, picoseconds now)
{
    if (now - model->popped_at < SETTLE_PS)
        model->early_reads++;
}

static uint8_t read_register(struct adxl345_model *model, picoseconds now, uint8_t address)
{
    if (address >= REGISTERS)
        return 0;
    if (model->stuck[address] >= 0)
        return (uint8_t)model->stuck[address];
    if (address == DEVID)
        return model->devid;
    if (address == INT_SOURCE) { // p. 27: data ready, watermark, overrun
        bool ready = model->level > 0;
        bool watermark = model->level >= (model->registers[FIFO_CTL] & 0x1F);
        return (uint8_t)(ready << 7 | watermark << 1 | model->overrun);
    }
    if (address == FIFO_STATUS) {
        settled(model, now);
        return model->level;
    }
    if (address >= DATAX0 && address <= DATAZ1) {
        if (!model->popping) {
            settled(model, now);
            model->popping = true;
            if (mode(model) != MODE_BYPASS && model->level > 0)
                model->output = model->fifo[model->first];
        }
        uint16_t word = (uint16_t)model->output.axis[(address - DATAX0) / 2];
        return address & 1 ? (uint8_t)(word >> 8) : (uint8_t)word;
    }
    return model->registers[address];
}

// p. 21: the read ends when the address leaves the data registers or chip select rises, however few bytes were read.
static void end_of_data(struct adxl345_model *model, picoseconds now)
{
    if (!model->popping)
        return;
    model->popping = false;
    model->popped_at = now;
    model->overrun = false; // p. 20: cleared when the FIFO is read
    if (mode(model) != MODE_BYPASS && model->level > 0) {
        model->first = (uint8_t)((model->first + 1) % 32);
        model->level--;
    }
}

static void write_register(struct adxl345_model *model, picoseconds now, uint8_t address, uint8_t value)
{
    bool read_only = address < 0x1D || address == ACT_TAP_STATUS || address == INT_SOURCE ||
                     (address >= DATAX0 && address <= DATAZ1) || address >= FIFO_STATUS;
    if (read_only)
        return;
    bool was_measuring = measuring(model);
    model->registers[address] = value;
    if (model->stuck[address] >= 0)
        model->registers[address] = (uint8_t)model->stuck[address];
    if (address == FIFO_CTL && mode(model) == MODE_BYPASS) {
        model->level = 0; // p. 21: bypass clears the FIFO
        model->overrun = false;
    }
    if (address == BW_RATE || !was_measuring)
        model->next_at = now + period(model);
}

/****************************************************************
 * The bus
 ****************************************************************/

void adxl345_model_select(struct adxl345_model *model, picoseconds now, bool selected)
{
    if (selected == model->selected)
        return;
    adxl345_model_advance(model, now);
    end_of_data(model, now);
    model->selected = selected;
    model->have_command = false;
}

uint8_t adxl345_model_exchange(struct adxl345_model *model, picoseconds now, uint8_t byte)
{
    if (!model->powered || !model->selected)
        return model->open_line;
    adxl345_model_advance(model, now);
    if (!model->have_command) { // p. 15, Figure 37-38: read, multiple, address
        model->have_command = true;
        model->command = byte;
        model->address = byte & 0x3F;
        return 0;
    }
    uint8_t answer = 0;
    if (model->command & 0x80)
        answer = read_register(model, now, model->address);
    else
        write_register(model, now, model->address, byte);
    if (model->command & 0x40) {
        model->address = (model->address + 1) & 0x3F;
        if (model->address == DATAZ1 + 1)
            end_of_data(model, now);
    }
    return answer;
}
