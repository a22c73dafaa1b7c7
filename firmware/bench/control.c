// Commands from standard input, a line each; each is answered by `ok` or `error SENTENCE`
//
//   go                    begin (only with --hold)
//   play FILE             feel this waveform now, then rest      loop FILE: again and again
//   rest [X Y Z]          rest now, in this pose (g)
//   sensor off [BYTE]     the sensor's supply fails; MISO then reads BYTE (0xFF)      sensor on
//   devid BYTE            what the sensor answers to its id
//   poke REG BYTE         a register changes by itself          stuck REG BYTE|free: it keeps a value
//   rate ERROR            the sensor's clock: 0.03 is 3 % fast
//   jump MS               the AVR stands still for so long: the sensor goes on
//   send HEX              bytes to the AVR, as over the line
//   reset                 the reset button
//   stats                 a line `stats {…}` now
//   quit                  a line `stats {…}`, and out; the end of the input does the same
//   at MS COMMAND         the command at this simulated time: a run given beforehand is the same each time
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define LINE_SIZE 4400
#define AGENDA_SIZE 4096

static struct {
    uint64_t cycle;
    char *command;
} agenda[AGENDA_SIZE];
static int agenda_length;

static const char *number(const char **text, long top, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(*text, &end, 0);
    if (end == *text || errno || *value < 0 || *value > top)
        return "a number is missing or too large";
    *text = end;
    return NULL;
}

static const char *sensor_command(const char *rest)
{
    long byte = 0xFF;
    if (strcmp(rest, "on") == 0) {
        adxl345_model_power(&bench.sensor, true);
        return NULL;
    }
    if (strncmp(rest, "off", 3) != 0)
        return "sensor is on or off";
    rest += 3;
    if (*rest) {
        const char *wrong = number(&rest, 255, &byte);
        if (wrong)
            return wrong;
    }
    bench.sensor.open_line = (uint8_t)byte;
    adxl345_model_power(&bench.sensor, false);
    return NULL;
}

static const char *register_command(const char *rest, bool keep)
{
    long reg, value;
    const char *wrong = number(&rest, 0x39, &reg);
    if (wrong)
        return wrong;
    while (*rest == ' ')
        rest++;
    if (keep && strcmp(rest, "free") == 0) {
        bench.sensor.stuck[reg] = -1;
        return NULL;
    }
    wrong = number(&rest, 255, &value);
    if (wrong)
        return wrong;
    bench.sensor.registers[reg] = (uint8_t)value;
    if (keep)
        bench.sensor.stuck[reg] = (int16_t)value;
    return NULL;
}

static const char *send_command(const char *hex)
{
    uint8_t bytes[LINE_SIZE / 2];
    size_t count = 0;
    for (; isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]); hex += 2) {
        char pair[3] = {hex[0], hex[1], 0};
        bytes[count++] = (uint8_t)strtol(pair, NULL, 16);
    }
    if (*hex || !count)
        return "send wants pairs of hexadecimal digits";
    return line_inject(bytes, count) ? NULL : "too many bytes are on the way already";
}

static const char *jump_command(const char *rest)
{
    long ms;
    const char *wrong = number(&rest, 10000, &ms);
    if (wrong)
        return wrong;
    // The sensor lives through the time; then its clock is set back to ours.
    picoseconds gap = (picoseconds)ms * 1000 * PS_PER_US;
    adxl345_model_advance(&bench.sensor, bench_now() + gap);
    if (bench.sensor.next_at > gap)
        bench.sensor.next_at -= gap;
    return NULL;
}

static const char *rest_command(const char *rest)
{
    double pose[3] = {0, 0, 1};
    if (*rest && sscanf(rest, "%lf %lf %lf", &pose[0], &pose[1], &pose[2]) != 3)
        return "rest wants three numbers";
    world_rest(pose);
    return NULL;
}

static const char *obey(const char *line);

static const char *later(const char *rest)
{
    char *end;
    double ms = strtod(rest, &end);
    if (end == rest || *end != ' ' || !(ms >= 0 && ms < 1e9))
        return "at wants a time in ms and a command";
    if (agenda_length == AGENDA_SIZE)
        return "the agenda is full";
    uint64_t cycle = (uint64_t)(ms * (double)bench.avr->frequency / 1000.0);
    int place = agenda_length;
    while (place > 0 && agenda[place - 1].cycle > cycle) {
        agenda[place] = agenda[place - 1];
        place--;
    }
    agenda[place].cycle = cycle;
    agenda[place].command = strdup(end + 1);
    agenda_length++;
    return NULL;
}

static const char *obey(const char *line)
{
    char word[16] = "";
    int length = 0;
    sscanf(line, "%15s%n", word, &length);
    const char *rest = line + length;
    while (*rest == ' ')
        rest++;
    adxl345_model_advance(&bench.sensor, bench_now());
    if (strcmp(word, "play") == 0 || strcmp(word, "loop") == 0)
        return world_play(rest, word[0] == 'l') ? NULL : "the waveform cannot be read";
    if (strcmp(word, "rest") == 0)
        return rest_command(rest);
    if (strcmp(word, "sensor") == 0)
        return sensor_command(rest);
    if (strcmp(word, "poke") == 0 || strcmp(word, "stuck") == 0)
        return register_command(rest, word[0] == 's');
    if (strcmp(word, "send") == 0)
        return send_command(rest);
    if (strcmp(word, "jump") == 0)
        return jump_command(rest);
    if (strcmp(word, "at") == 0)
        return later(rest);
    if (strcmp(word, "devid") == 0) {
        long byte;
        const char *wrong = number(&rest, 255, &byte);
        if (!wrong)
            bench.sensor.devid = (uint8_t)byte;
        return wrong;
    }
    if (strcmp(word, "rate") == 0) {
        double error = strtod(rest, NULL);
        if (!(error > -0.5 && error < 0.5))
            return "rate wants an error between -0.5 and 0.5";
        bench.sensor.rate_error = error;
        return NULL;
    }
    if (strcmp(word, "go") == 0)
        bench_go();
    else if (strcmp(word, "reset") == 0)
        bench_reset();
    else if (strcmp(word, "stats") == 0)
        bench_print_statistics();
    else if (strcmp(word, "quit") == 0)
        bench.quit = true;
    else
        return "no such command";
    return NULL;
}

static void keep_appointments(void)
{
    while (agenda_length && agenda[0].cycle <= bench.avr->cycle && !bench.held) {
        char *command = agenda[0].command;
        agenda_length--;
        memmove(agenda, agenda + 1, (size_t)agenda_length * sizeof agenda[0]);
        const char *wrong = obey(command);
        if (wrong)
            fprintf(stderr, "bench: %s: %s\n", command, wrong);
        free(command);
    }
}

void control_service(int timeout_ms)
{
    static char buffer[LINE_SIZE];
    static size_t length;
    keep_appointments();
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (!bench.quit && poll(&input, 1, timeout_ms) > 0) {
        ssize_t n = read(0, buffer + length, sizeof buffer - 1 - length);
        if (n <= 0) {
            bench.quit = true; // whoever started us is gone
            return;
        }
        length += (size_t)n;
        buffer[length] = 0;
        char *from = buffer;
        for (char *end; (end = strchr(from, '\n')); from = end + 1) {
            *end = 0;
            const char *wrong = obey(from);
            if (wrong)
                printf("error %s\n", wrong);
            else
                printf("ok\n");
            fflush(stdout);
        }
        length -= (size_t)(from - buffer);
        memmove(buffer, from, length);
        if (length == sizeof buffer - 1) {
            printf("error the line is too long\n");
            fflush(stdout);
            length = 0;
        }
        timeout_ms = 0;
    }
}
