// A USB camera without a kernel: preloaded into a process it answers what V4L2 is asked of one file.
//
// V4L2_DEVICE names the file that stands for the device (gone: unplugged), V4L2_FORMAT the only pixel format it has,
// V4L2_SIZE its only size, V4L2_FRAMES a file of pictures (a 32-bit length and the bytes, again and again) that are
// sent in turn. Structures and numbers are the kernel's own header's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BUFFERS = 8, ROOM = 4 * 1024 * 1024 };

static int memory[64], queue[MOST_BUFFERS], queued, buffers, streaming;
static FILE *frames;
static unsigned width, height, format;

static int is_ours(int fd) { return fd > 0 && fd < 64 && memory[fd]; }

static int opened(const char *path, int (*really)(const char *, int, ...), int flags, mode_t mode) {
    const char *device = getenv("V4L2_DEVICE");
    if (device == NULL || strcmp(path, device) != 0) return really(path, flags, mode);
    if (access(device, F_OK) != 0) { errno = ENOENT; return -1; }
    int fd = memfd_create("camera", MFD_CLOEXEC);
    if (fd < 0 || fd >= 64 || ftruncate(fd, (off_t)MOST_BUFFERS * ROOM) != 0) return -1;
    const char *named = getenv("V4L2_FORMAT");
    format = v4l2_fourcc(named[0], named[1], named[2], named[3]);
    sscanf(getenv("V4L2_SIZE"), "%ux%u", &width, &height);
    if (frames == NULL) frames = fopen(getenv("V4L2_FRAMES"), "rb");
    memory[fd] = 1;
    return fd;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(path, (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"), flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(path, (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64"), flags, mode);
}

int close(int fd) {
    if (is_ours(fd)) memory[fd] = 0;
    return ((int (*)(int))dlsym(RTLD_NEXT, "close"))(fd);
}

static int refuse(int why) {
    errno = why;
    return -1;
}

static void describe(struct v4l2_format *told) {
    told->fmt.pix = (struct v4l2_pix_format){
        .width = width, .height = height, .pixelformat = format, .field = V4L2_FIELD_NONE,
        .bytesperline = width * 2, .sizeimage = ROOM, .colorspace = V4L2_COLORSPACE_SRGB};
}

static int fill(int fd, struct v4l2_buffer *buffer) {
    uint32_t length;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    if (access(getenv("V4L2_DEVICE"), F_OK) != 0) return refuse(ENODEV);
    if (queued == 0 || !streaming) return refuse(EAGAIN);
    if (fread(&length, sizeof length, 1, frames) != 1) {
        rewind(frames);
        if (fread(&length, sizeof length, 1, frames) != 1) return refuse(EIO);
    }
    int index = queue[0];
    memmove(queue, queue + 1, (size_t)--queued * sizeof *queue);
    char *room = malloc(length);
    if (fread(room, 1, length, frames) != length || pwrite(fd, room, length, (off_t)index * ROOM) != (ssize_t)length)
        return refuse(EIO);
    free(room);
    *buffer = (struct v4l2_buffer){.index = (unsigned)index, .type = buffer->type, .memory = V4L2_MEMORY_MMAP,
                                   .bytesused = length, .length = ROOM, .flags = V4L2_BUF_FLAG_DONE};
    buffer->m.offset = (unsigned)index * ROOM;
    return 0;
}

int ioctl(int fd, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *given = va_arg(rest, void *);
    va_end(rest);
    if (!is_ours(fd)) return ((int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl"))(fd, request, given);
    struct v4l2_buffer *buffer = given;
    switch ((unsigned)request) {
    case VIDIOC_QUERYCAP:
        *(struct v4l2_capability *)given = (struct v4l2_capability){
            .driver = "uvcvideo", .card = "A camera of a file", .bus_info = "usb-1",
            .capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING | V4L2_CAP_DEVICE_CAPS,
            .device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING};
        return 0;
    case VIDIOC_G_FMT:
        describe(given);
        return 0;
    case VIDIOC_TRY_FMT:
    case VIDIOC_S_FMT: {
        unsigned wanted = ((struct v4l2_format *)given)->fmt.pix.pixelformat;
        describe(given);
        return wanted == format ? 0 : refuse(EINVAL);
    }
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM:
        ((struct v4l2_streamparm *)given)->parm.capture.timeperframe = (struct v4l2_fract){1, 30};
        return 0;
    case VIDIOC_REQBUFS: {
        struct v4l2_requestbuffers *asked = given;
        buffers = (int)(asked->count = asked->count > MOST_BUFFERS ? MOST_BUFFERS : asked->count);
        queued = 0;
        return 0;
    }
    case VIDIOC_QUERYBUF:
        if ((int)buffer->index >= buffers) return refuse(EINVAL);
        buffer->length = ROOM;
        buffer->m.offset = buffer->index * ROOM;
        return 0;
    case VIDIOC_QBUF:
        if ((int)buffer->index >= buffers || queued >= MOST_BUFFERS) return refuse(EINVAL);
        queue[queued++] = (int)buffer->index;
        return 0;
    case VIDIOC_DQBUF:
        return fill(fd, buffer);
    case VIDIOC_STREAMON:
        streaming = 1;
        return 0;
    case VIDIOC_STREAMOFF:
        streaming = queued = 0;
        return 0;
    default:
        return refuse(EINVAL);
    }
}
