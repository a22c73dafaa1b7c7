// The UART on a pseudo-terminal
//
// A pseudo-terminal of our own (openpty), because simavr's uart_pty part loses bytes in fast runs. Rules:
// - While somebody has the port open, no byte is lost: if the reader is slow, simulated time waits, which is counted.
// - While nobody has it open, bytes go nowhere, as on a real line, and are counted.
// Linux tells the two apart: the master hangs up when the last user of the slave closes it. It says so only after the
// slave was open once, so we open and close it first.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <simavr/avr_uart.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

enum { UBRR0L = 0xC4, UDR0 = 0xC6 }; // addresses in data space
#define OUT_SIZE 65536
#define IN_SIZE 4096

struct line_counts line_counts;

static struct {
    int master;
    const char *link;
    FILE *tee;
    avr_irq_t *input;
    bool full; // the AVR's receiver wants no more for now
    uint8_t out[OUT_SIZE];
    size_t out_from, out_to;
    uint8_t in[IN_SIZE];
    size_t in_from, in_to;
} line = {.master = -1};

static void fail(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

void line_open(const char *link, const char *tee)
{
    int slave;
    char path[256];
    struct termios raw;
    if (openpty(&line.master, &slave, path, NULL, NULL) < 0)
        fail("openpty");
    // Raw from the start: nothing may be echoed or translated before the reader sets the port up its own way.
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    close(slave);
    fcntl(line.master, F_SETFL, O_NONBLOCK);
    if (tee && !(line.tee = fopen(tee, "wb")))
        fail(tee);
    if (link) {
        unlink(link);
        if (symlink(path, link) < 0)
            fail(link);
        line.link = link;
    }
    printf("port %s\n", link ? link : path);
}

void line_close(void)
{
    if (line.link)
        unlink(line.link);
    if (line.tee)
        fclose(line.tee);
    close(line.master);
}

static bool somebody_reads(void)
{
    struct pollfd state = {.fd = line.master, .events = 0};
    poll(&state, 1, 0);
    return !(state.revents & POLLHUP);
}

static double monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void push(void)
{
    while (line.out_from < line.out_to) {
        ssize_t n = write(line.master, line.out + line.out_from, line.out_to - line.out_from);
        if (n <= 0)
            return;
        line.out_from += (size_t)n;
    }
    line.out_from = line.out_to = 0;
}

static void make_room(void)
{
    memmove(line.in, line.in + line.in_from, line.in_to - line.in_from);
    line.in_to -= line.in_from;
    line.in_from = 0;
}

// What does not fit stays with the kernel, and then with the writer.
static void pull(void)
{
    make_room();
    if (line.in_to == IN_SIZE)
        return;
    ssize_t n = read(line.master, line.in + line.in_to, IN_SIZE - line.in_to);
    if (n > 0)
        line.in_to += (size_t)n;
}

static void feed(void)
{
    while (!line.full && line.in_from < line.in_to) {
        line_counts.received++;
        avr_raise_irq(line.input, line.in[line.in_from++]);
    }
}

void line_service(void)
{
    if (somebody_reads()) {
        push();
        if (line.out_to > line.out_from) {
            line_counts.stalls++;
            double began = monotonic();
            while (line.out_to > line.out_from && somebody_reads() && !bench.quit) {
                struct pollfd wait = {.fd = line.master, .events = POLLOUT};
                poll(&wait, 1, 20);
                push();
                control_service(0);
            }
            line_counts.stalled_s += monotonic() - began;
        }
        pull();
    }
    // Whatever is left has no reader: either there was none, or it went away.
    line_counts.unread += line.out_to - line.out_from;
    line.out_from = line.out_to = 0;
    feed();
}

bool line_inject(const uint8_t *bytes, size_t count)
{
    make_room();
    if (line.in_to + count > IN_SIZE)
        return false;
    memcpy(line.in + line.in_to, bytes, count);
    line.in_to += count;
    feed();
    return true;
}

static void sent(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq, (void)param;
    line_counts.sent++;
    if (line.tee)
        fputc((int)value, line.tee);
    if (line.out_to == OUT_SIZE)
        line_service();
    line.out[line.out_to++] = (uint8_t)value;
}

static void receiver_full(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq, (void)param;
    line.full = value;
}

// simavr counts a parity bit into every byte and so sends 8N1 a tenth too slowly.
static void baud_written(avr_t *avr, avr_io_addr_t addr, uint8_t value, void *param)
{
    (void)avr, (void)addr, (void)value;
    avr_uart_t *uart = param;
    uart->cycles_per_byte = uart->cycles_per_byte / 11 * 10;
}

void line_attach(void)
{
    avr_t *avr = bench.avr;
    uint32_t flags = 0; // neither to the console, nor asleep in the host when the AVR looks at its status
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    line.input = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), sent, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XOFF), receiver_full, NULL);
    avr_register_io_write(avr, UBRR0L, baud_written, avr->io[AVR_DATA_TO_IO(UDR0)].w.param);
}
