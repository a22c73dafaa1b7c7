// The firmware's portable core on the host, under the address and undefined-behaviour sanitizers
//
//   core-test NAME     run one test; exit status 0 or 1. tests/firmware/test_core.py runs them all.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adxl345.h"
#include "crc.h"
#include "fake_board.h"
#include "frame.h"
#include "igloo.h"
#include "port.h"
#include "ring.h"
#include "wire_reader.h"

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s:%d: not so: %s\n", __func__, __LINE__, #what);                                         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define EQUAL(is, should)                                                                                              \
    do {                                                                                                               \
        long long is_ = (long long)(is), should_ = (long long)(should);                                                \
        if (is_ != should_) {                                                                                          \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __func__, __LINE__, #is, is_, should_);                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/****************************************************************
 * Reading what was sent
 ****************************************************************/

struct seen {
    unsigned hellos, datas, statuses;
    struct wire_frame hello, data, status; // the last of each
    uint8_t flags;                         // of all DATA frames together
    uint32_t missing_seq;                  // numbers skipped
    uint32_t missing_at_status;            // of them, before the last STATUS
    uint32_t missing_index;                // samples skipped
    unsigned read_wrong;                   // STATUS frames whose count of samples is not that of the DATA frames
};

static struct {
    size_t at;
    bool began, have_index;
    uint16_t seq;
    uint32_t index;
} reader;

// Read all frames since the last call.
static struct seen look(void)
{
    struct seen seen;
    struct wire_frame frame;
    memset(&seen, 0, sizeof seen);
    while (wire_next(board.wire, board.wired, &reader.at, &frame)) {
        if (reader.began)
            seen.missing_seq += (uint16_t)(frame.seq - reader.seq - 1);
        reader.began = true;
        reader.seq = frame.seq;
        if (frame.type == 1) {
            seen.hellos++;
            seen.hello = frame;
        } else if (frame.type == 3) {
            seen.statuses++;
            seen.status = frame;
            seen.missing_at_status = seen.missing_seq;
            seen.read_wrong += frame.read != reader.index;
        } else {
            if (reader.have_index)
                seen.missing_index += frame.index - reader.index;
            reader.have_index = true;
            reader.index = frame.index + frame.n;
            seen.datas++;
            seen.data = frame;
            seen.flags |= frame.flags;
        }
    }
    return seen;
}

static struct seen boot(uint32_t ms)
{
    igloo_start();
    board_run(ms);
    return look();
}

/****************************************************************
 * Frames
 ****************************************************************/

static void crc_of_the_check_string(void)
{
    const char *text = "123456789";
    uint16_t crc = CRC_START;
    for (int i = 0; i < 9; i++)
        crc = crc_update(crc, (uint8_t)text[i]);
    EQUAL(crc, 0x6F91);
    EQUAL(wire_crc((const uint8_t *)text, 9), 0x6F91);
}

static void take_from_ring(uint8_t *into, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK(ring_tail != ring_head);
        into[i] = ring_bytes[ring_tail++];
    }
    EQUAL(ring_tail, ring_head);
}

// Worked out by hand from the protocol: body 02 00 00 00 01, whose CRC-16/MCRF4XX is 0x3789.
static void golden_bytes_of_a_frame(void)
{
    static const uint8_t golden[] = {0x02, 0x02, 0x01, 0x01, 0x04, 0x01, 0x89, 0x37, 0x00};
    uint8_t sent[sizeof golden];
    frame_reset();
    frame_open(FRAME_DATA);
    frame_put_u16(0x0100);
    frame_close();
    take_from_ring(sent, sizeof sent);
    CHECK(memcmp(sent, golden, sizeof golden) == 0);
}

static void frames_of_every_shape_survive_the_ring(void)
{
    uint8_t payload[106], sent[113], body[256];
    board_start();
    frame_reset();
    for (unsigned round = 0; round < 70000; round++) { // the number of the frame wraps, the ring everywhere
        uint8_t count = (uint8_t)(1 + board_random() % sizeof payload);
        unsigned zeros = (unsigned)(board_random() % 4); // none, some, most, all
        for (unsigned i = 0; i < count; i++)
            payload[i] = board_random() % 3 < zeros ? 0 : (uint8_t)(1 + board_random() % 255);
        CHECK(frame_fits(count, 0));
        frame_open((enum frame_type)0x7F);
        frame_put(payload, count);
        frame_close();
        take_from_ring(sent, count + 7u);
        EQUAL(memchr(sent, 0, count + 7u) == sent + count + 6, 1); // the only zero ends it
        size_t length = 0;
        for (size_t at = 0; at < count + 6u;) {
            size_t next = at + sent[at];
            for (at++; at < next; at++)
                body[length++] = sent[at];
            if (next < count + 6u)
                body[length++] = 0;
        }
        EQUAL(length, count + 5u);
        EQUAL(body[0], 0x7F);
        EQUAL(body[1] | body[2] << 8, round & 0xFFFF);
        CHECK(memcmp(body + 3, payload, count) == 0);
        EQUAL(body[length - 2] | body[length - 1] << 8, wire_crc(body, length - 2));
    }
}

static void a_frame_not_closed_was_never_there(void)
{
    uint8_t sent[9];
    frame_reset();
    frame_open(FRAME_STATUS);
    frame_put_u32(0xDEADBEEF);
    EQUAL(ring_head, ring_tail);
    frame_open(FRAME_DATA);
    frame_put_u16(0x0100);
    frame_close();
    take_from_ring(sent, sizeof sent);
    EQUAL(sent[1], FRAME_DATA);
}

static void room_is_counted_to_the_byte(void)
{
    frame_reset();
    EQUAL(ring_room(), 255);
    CHECK(frame_fits(106, 255 - 113));
    CHECK(!frame_fits(106, 255 - 113 + 1));
    uint8_t payload[106];
    memset(payload, 1, sizeof payload);
    for (int i = 0; i < 2; i++) {
        CHECK(frame_fits(sizeof payload, 0));
        frame_open(FRAME_DATA);
        frame_put(payload, sizeof payload);
        frame_close();
    }
    EQUAL(ring_room(), 255 - 226);
    CHECK(!frame_fits(sizeof payload, 0));
    CHECK(frame_fits(22, 0));
    CHECK(!frame_fits(23, 0));
}

/****************************************************************
 * Streaming
 ****************************************************************/

static void boot_says_hello_and_streams(void)
{
    board_start();
    struct seen seen = boot(20);
    EQUAL(seen.hellos, 1);
    EQUAL(seen.statuses, 1);
    EQUAL(seen.hello.seq, 0);
    EQUAL(seen.hello.fw, IGLOO_FIRMWARE);
    EQUAL(seen.hello.devid, 0xE5);
    EQUAL(seen.hello.bw_rate, 0x0F);
    EQUAL(seen.hello.data_format, 0x0B);
    EQUAL(seen.hello.rate_hz, 3200);
    EQUAL(seen.hello.ug_per_lsb, 3906);
    EQUAL(seen.hello.f_cpu, 16000000);
    EQUAL(seen.hello.baud, 500000);
    EQUAL(seen.hello.unit, 0);
    EQUAL(seen.status.state, 0);
    EQUAL(board.sensor.registers[0x38], 0x90);
    EQUAL(board.sensor.registers[0x2D], 0x08);
}

static void every_sample_arrives_once_and_unchanged(void)
{
    struct wire_frame frame;
    size_t at = 0;
    uint32_t index = 0, last_us = 0;
    board_start();
    igloo_start();
    board_run(60000);
    while (wire_next(board.wire, board.wired, &at, &frame)) {
        if (frame.type != 2)
            continue;
        EQUAL(frame.index, index);
        EQUAL(frame.flags, 0);
        EQUAL(frame.n, 16);
        for (int i = 0; i < frame.n; i++, index++) {
            int16_t should[3];
            board_sample(index, should);
            for (int axis = 0; axis < 3; axis++)
                EQUAL(frame.samples[i][axis], should[axis]);
        }
        if (index > 16)
            CHECK(frame.t_us - last_us >= 4000 && frame.t_us - last_us <= 6100); // 5 ms, give or take a tick
        last_us = frame.t_us;
    }
    CHECK(index >= 60 * 3200 - 32);
    CHECK(index <= board.sensor.taken);
    EQUAL(board.sensor.overwritten, 0);
    EQUAL(board.sensor.early_reads, 0);
}

static void reports_come_once_a_second(void)
{
    board_start();
    struct seen seen = boot(10500);
    EQUAL(seen.hellos, 11);
    EQUAL(seen.statuses, 11);
    EQUAL(seen.missing_seq, 0);
    EQUAL(seen.read_wrong, 0);
    CHECK(seen.status.fifo_max >= 16 && seen.status.fifo_max <= 20);
}

static void the_clock_may_wrap(void)
{
    board_start();
    board.clock_offset = (uint32_t)-3000000; // three seconds before 2^32 us
    struct seen seen = boot(6500);
    EQUAL(seen.hellos, 7);
    EQUAL(seen.missing_index, 0);
    EQUAL(seen.flags, 0);
    CHECK(seen.data.t_us < 4000000);
}

static void a_full_fifo_is_reported(void)
{
    board_start();
    boot(100);
    board.stall_ms = 20;
    board_run(1100);
    struct seen seen = look();
    EQUAL(seen.flags, 1);
    EQUAL(seen.status.overruns, 1);
    EQUAL(seen.status.fifo_max, 32);
    EQUAL(seen.missing_index, 0); // the index does not know
    CHECK(board.sensor.overwritten > 0);
    board_run(1100);
    seen = look();
    EQUAL(seen.flags, 0);
    CHECK(seen.status.fifo_max < 32);
}

static void a_slow_line_drops_whole_frames_and_counts_them(void)
{
    board_start();
    board.bytes_per_ms = 12; // 125000 baud: half of what is needed
    struct seen seen = boot(5000);
    EQUAL(seen.flags, 2);
    CHECK(seen.missing_seq > 100);
    EQUAL(seen.missing_index, 16 * seen.missing_seq);
    EQUAL(seen.status.overruns, 0);
    EQUAL(board.sensor.overwritten, 0);
    EQUAL(seen.status.tx_dropped, seen.missing_at_status);
    CHECK(seen.hellos >= 4);
    board.bytes_per_ms = 50;
    board_run(2000);
    look();
    board_run(2000);
    seen = look();
    EQUAL(seen.flags, 0);
    EQUAL(seen.missing_seq, 0);
    EQUAL(seen.missing_index, 0);
}

static void a_short_stop_of_the_line_loses_nothing(void)
{
    board_start();
    boot(100);
    for (int i = 0; i < 50; i++) {
        board.bytes_per_ms = 0; // two frames wait in the ring, the rest in the sensor
        board_run(10);
        board.bytes_per_ms = 50;
        board_run(40 + (unsigned)i % 5);
    }
    struct seen seen = look();
    EQUAL(seen.flags, 0);
    EQUAL(seen.missing_index, 0);
    EQUAL(seen.missing_seq, 0);
}

/****************************************************************
 * A sensor that is not there, or not itself
 ****************************************************************/

static void a_missing_sensor_is_state_1_and_comes_up_by_itself(void)
{
    board_start();
    adxl345_model_power(&board.sensor, false);
    struct seen seen = boot(1100);
    EQUAL(seen.status.state, 1);
    EQUAL(seen.status.devid, 0xFF);
    EQUAL(seen.datas, 0);
    EQUAL(seen.hellos, 2);
    adxl345_model_power(&board.sensor, true);
    board_run(1100);
    seen = look();
    EQUAL(seen.status.state, 0);
    EQUAL(seen.hello.devid, 0xE5);
    CHECK(seen.datas > 150);
    EQUAL(seen.flags, 0); // set up, but not again
}

static void a_stranger_is_not_written_to(void)
{
    board_start();
    board.sensor.devid = 0x33;
    struct seen seen = boot(1100);
    EQUAL(seen.status.state, 1);
    EQUAL(seen.status.devid, 0x33);
    EQUAL(board.sensor.registers[0x2C], 0x0A); // as at reset
    EQUAL(board.sensor.registers[0x2D], 0x00);
}

static void a_configuration_that_does_not_stick_is_state_2(void)
{
    board_start();
    board.sensor.registers[0x2C] = 0x0E;
    board.sensor.stuck[0x2C] = 0x0E; // half the rate
    struct seen seen = boot(1100);
    EQUAL(seen.status.state, 2);
    EQUAL(seen.status.devid, 0xE5);
    EQUAL(seen.hello.bw_rate, 0x0E);
    EQUAL(seen.datas, 0);
    board.sensor.stuck[0x2C] = -1;
    board_run(1100);
    seen = look();
    EQUAL(seen.status.state, 0);
    EQUAL(seen.hello.bw_rate, 0x0F);
}

static void lose_and_find(uint8_t open_line)
{
    board_start();
    boot(100);
    board.sensor.open_line = open_line;
    adxl345_model_power(&board.sensor, false);
    board_run(2000);
    struct seen seen = look();
    EQUAL(seen.status.state, 3);
    EQUAL(seen.status.devid, open_line);
    CHECK(seen.datas <= 1); // the one under way
    EQUAL(seen.flags, 0);
    uint32_t index = reader.index;
    adxl345_model_power(&board.sensor, true);
    board_run(1100);
    seen = look();
    EQUAL(seen.status.state, 0);
    EQUAL(seen.flags, 4);
    EQUAL(seen.missing_index, 0);
    CHECK(seen.data.index > index);
    board_run(1000);
    EQUAL(look().flags, 0); // said once
}

static void a_lost_sensor_is_state_3_and_found_again(void)
{
    lose_and_find(0xFF);
}

static void a_sensor_lost_with_its_line_low_is_noticed_too(void)
{
    lose_and_find(0x00);
}

static void a_sensor_that_lost_its_supply_for_a_moment_is_set_up_again(void)
{
    board_start();
    boot(100);
    adxl345_model_power(&board.sensor, false);
    adxl345_model_power(&board.sensor, true); // reset values, standby
    board_run(60);
    struct seen seen = look();
    EQUAL(seen.flags, 4);
    EQUAL(board.sensor.registers[0x2C], 0x0F);
}

static void a_register_that_changed_by_itself_is_put_right(void)
{
    static const struct { uint8_t reg, value; } changes[] = {
        {0x2C, 0x0E}, {0x2D, 0x00}, {0x31, 0x08}, {0x38, 0x00}, {0x38, 0x50}, {0x1E, 0x10}, {0x2E, 0x83},
    };
    board_start();
    boot(100);
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        uint8_t right = board.sensor.registers[changes[i].reg];
        board.sensor.registers[changes[i].reg] = changes[i].value;
        board_run(300);
        struct seen seen = look();
        EQUAL(board.sensor.registers[changes[i].reg], right);
        EQUAL(seen.flags & 4, 4);
    }
}

// The supply is cut at each access of some frames in turn: whatever comes over the line is what the sensor felt.
static void a_sensor_cut_in_the_middle_of_a_frame_sends_no_rubbish(void)
{
    for (unsigned k = 1; k <= 120; k++) {
        struct wire_frame frame;
        size_t at = 0;
        board_start();
        igloo_start();
        board_run(50);
        board.sensor.open_line = k & 1 ? 0xFF : 0x00;
        board.cut_at = board.transfers + k;
        board_run(200);
        while (wire_next(board.wire, board.wired, &at, &frame)) {
            for (uint32_t i = 0; frame.type == 2 && i < frame.n; i++) {
                int16_t should[3];
                board_sample(frame.index + i, should);
                CHECK(memcmp(frame.samples[i], should, sizeof should) == 0);
            }
        }
    }
}

static void a_line_of_garbage_publishes_nothing(void)
{
    for (unsigned seed = 1; seed <= 200; seed++) {
        board_start();
        memset(&reader, 0, sizeof reader);
        board.random ^= seed * 0x9E3779B97F4A7C15ULL;
        boot(50);
        do
            board_run(1);
        while (ring_tail != ring_head);
        look();
        board.garbage = true;
        board_run(1500);
        struct seen seen = look();
        EQUAL(seen.datas, 0);
        EQUAL(seen.status.state, 3);
        board.garbage = false;
        board_run(200);
        EQUAL(look().flags, 4);
    }
}

/****************************************************************
 * Commands
 ****************************************************************/

static void h_is_answered_at_once(void)
{
    board_start();
    boot(100);
    board_send("h", 1);
    board_run(5);
    struct seen seen = look();
    EQUAL(seen.hellos, 1);
    EQUAL(seen.statuses, 1);
}

static void a_flood_of_h_costs_no_sample(void)
{
    board_start();
    boot(100);
    for (int i = 0; i < 1000; i++) {
        board_send("hhhhhhhhhh", 10);
        board_run(1);
    }
    board_run(20);
    struct seen seen = look();
    CHECK(seen.hellos > 100);
    EQUAL(seen.flags, 0);
    EQUAL(seen.missing_index, 0);
    EQUAL(seen.missing_seq, 0);
    EQUAL(board.sensor.overwritten, 0);
}

static void r_sets_the_sensor_up_again(void)
{
    board_start();
    boot(100);
    board.sensor.registers[0x31] = 0x00;
    board_send("r", 1);
    board_run(10);
    EQUAL(look().flags, 4);
    EQUAL(board.sensor.registers[0x31], 0x0B);
}

static void u_stores_the_unit(void)
{
    board_start();
    boot(100);
    board_send("u\x07\x01h", 4);
    board_run(10);
    EQUAL(look().hello.unit, 0x0107);
    EQUAL(board.unit, 0x0107);
    EQUAL(board.unit_writes, 1);
}

static void u_takes_any_two_bytes(void)
{
    board_start();
    boot(100);
    board_send("uhu", 3);
    board_run(10);
    EQUAL(board.unit, 'h' | 'u' << 8);
    EQUAL(look().hellos, 0);
}

static void half_a_u_is_forgotten(void)
{
    board_start();
    boot(100);
    board_send("u", 1);
    board_run(150);
    board_send("hh", 2);
    board_run(10);
    EQUAL(look().hellos, 1);
    EQUAL(board.unit_writes, 0);
}

static void a_line_error_ends_a_u(void)
{
    board_start();
    boot(100);
    board_send("u\x07", 2);
    board.incoming[board.incoming_to++] = PORT_LINE_ERROR;
    board_send("hh", 2);
    board_run(10);
    EQUAL(look().hellos, 1);
    EQUAL(board.unit_writes, 0);
}

// Random bytes in random bursts, beside a plain statement of what they should mean.
static void random_bytes_do_what_the_protocol_says_and_nothing_else(void)
{
    unsigned units = 0;
    uint16_t unit = 0;
    board_start();
    boot(100);
    for (unsigned burst = 0; burst < 1500; burst++) {
        uint8_t bytes[40];
        unsigned count = (unsigned)(1 + board_random() % sizeof bytes);
        for (unsigned i = 0; i < count; i++)
            bytes[i] = board_random() % 4 ? (uint8_t)board_random() : (uint8_t)"hru\0"[board_random() % 4];
        for (unsigned i = 0; i < count; i++)
            if (bytes[i] == 'u') {
                if (i + 2 >= count)
                    break;
                unit = (uint16_t)(bytes[i + 1] | bytes[i + 2] << 8);
                units++;
                i += 2;
            }
        board_send((const char *)bytes, count);
        board_run(102); // in which an unfinished command is forgotten
        EQUAL(board.unit, unit);
        EQUAL(board.unit_writes, units);
    }
    struct seen seen = look();
    EQUAL(seen.missing_seq, 0);
    EQUAL(seen.missing_index, 0);
    EQUAL(seen.flags, 4); // some of them were an r
    EQUAL(seen.status.state, 0);
}

/****************************************************************/

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
#define TEST(name) {#name, name}
    TEST(crc_of_the_check_string),
    TEST(golden_bytes_of_a_frame),
    TEST(frames_of_every_shape_survive_the_ring),
    TEST(a_frame_not_closed_was_never_there),
    TEST(room_is_counted_to_the_byte),
    TEST(boot_says_hello_and_streams),
    TEST(every_sample_arrives_once_and_unchanged),
    TEST(reports_come_once_a_second),
    TEST(the_clock_may_wrap),
    TEST(a_full_fifo_is_reported),
    TEST(a_slow_line_drops_whole_frames_and_counts_them),
    TEST(a_short_stop_of_the_line_loses_nothing),
    TEST(a_missing_sensor_is_state_1_and_comes_up_by_itself),
    TEST(a_stranger_is_not_written_to),
    TEST(a_configuration_that_does_not_stick_is_state_2),
    TEST(a_lost_sensor_is_state_3_and_found_again),
    TEST(a_sensor_lost_with_its_line_low_is_noticed_too),
    TEST(a_sensor_that_lost_its_supply_for_a_moment_is_set_up_again),
    TEST(a_register_that_changed_by_itself_is_put_right),
    TEST(a_sensor_cut_in_the_middle_of_a_frame_sends_no_rubbish),
    TEST(a_line_of_garbage_publishes_nothing),
    TEST(h_is_answered_at_once),
    TEST(a_flood_of_h_costs_no_sample),
    TEST(r_sets_the_sensor_up_again),
    TEST(u_stores_the_unit),
    TEST(u_takes_any_two_bytes),
    TEST(half_a_u_is_forgotten),
    TEST(a_line_error_ends_a_u),
    TEST(random_bytes_do_what_the_protocol_says_and_nothing_else),
};

int main(int argc, char **argv)
{
    for (unsigned i = 0; argc == 2 && i < sizeof tests / sizeof tests[0]; i++)
        if (strcmp(tests[i].name, argv[1]) == 0) {
            tests[i].run();
            return 0;
        }
    fprintf(stderr, "core-test: one of the tests is wanted\n");
    return 2;
}
