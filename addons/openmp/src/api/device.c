/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the standard for devices. There is none but the host, which is device 0. */
#include "omp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "api/routines.h"
#include "api/device.versions.h"

/* Devices: the host by its number, or as "initial device". */
static bool is_host(int device)
{
    return device == 0 || device == -1;
}

ABTOMP_API void omp_set_default_device(int device)
{
    abtomp_change_icvs(abtomp_self())->default_device = device < 0 ? 0 : device;
}

ABTOMP_API int omp_get_default_device(void)
{
    return abtomp_self()->icvs.default_device;
}

ABTOMP_API int omp_get_num_devices(void)
{
    return 0;
}

ABTOMP_API int omp_get_device_num(void)
{
    return 0;
}

ABTOMP_API int omp_get_initial_device(void)
{
    return 0;
}

ABTOMP_API int omp_is_initial_device(void)
{
    return 1;
}

ABTOMP_API void *omp_target_alloc(size_t size, int device)
{
    return is_host(device) ? malloc(size) : NULL;
}

ABTOMP_API void omp_target_free(void *memory, int device)
{
    if (is_host(device))
        free(memory);
}

ABTOMP_API int omp_target_is_present(const void *address, int device)
{
    (void)address;
    return is_host(device);
}

ABTOMP_API int omp_target_is_accessible(const void *address, size_t size, int device)
{
    (void)address, (void)size;
    return is_host(device);
}

ABTOMP_API void *omp_get_mapped_ptr(const void *address, int device)
{
    return is_host(device) ? (void *)(uintptr_t)address : NULL;
}

ABTOMP_API int omp_target_memcpy(void *to, const void *from, size_t length, size_t to_offset, size_t from_offset,
                                 int to_device, int from_device)
{
    if (!is_host(to_device) || !is_host(from_device))
        return EINVAL;
    memcpy((char *)to + to_offset, (const char *)from + from_offset, length);
    return 0;
}

/* A part of an array of several dimensions, that of the highest one first. */
struct rectangle {
    size_t element;
    const size_t *volume, *to_offsets, *from_offsets, *to_sizes, *from_sizes;
};

static int copy_rectangle(char *to, const char *from, int dimension, int num, const struct rectangle *part)
{
    size_t to_stride = part->element, from_stride = part->element;
    for (int i = dimension + 1; i < num; i++)
        if (__builtin_mul_overflow(to_stride, part->to_sizes[i], &to_stride) ||
            __builtin_mul_overflow(from_stride, part->from_sizes[i], &from_stride))
            return EINVAL;
    to += to_stride * part->to_offsets[dimension];
    from += from_stride * part->from_offsets[dimension];
    if (dimension == num - 1) {
        memcpy(to, from, part->element * part->volume[dimension]);
        return 0;
    }
    for (size_t i = 0; i < part->volume[dimension]; i++) {
        int error = copy_rectangle(to + i * to_stride, from + i * from_stride, dimension + 1, num, part);
        if (error != 0)
            return error;
    }
    return 0;
}

ABTOMP_API int omp_target_memcpy_rect(void *to, const void *from, size_t element, int num, const size_t *volume,
                                      const size_t *to_offsets, const size_t *from_offsets, const size_t *to_sizes,
                                      const size_t *from_sizes, int to_device, int from_device)
{
    if (!to && !from)
        return INT32_MAX; /* the most dimensions that there may be */
    if (element == 0 || num < 1 || !volume || !to_offsets || !from_offsets || !to_sizes || !from_sizes ||
        !is_host(to_device) || !is_host(from_device))
        return EINVAL;
    const struct rectangle part = {element, volume, to_offsets, from_offsets, to_sizes, from_sizes};
    return copy_rectangle(to, from, 0, num, &part);
}

ABTOMP_API int omp_target_memcpy_async(void *to, const void *from, size_t length, size_t to_offset, size_t from_offset,
                                       int to_device, int from_device, int num, void *depend)
{
    (void)num, (void)depend;
    return omp_target_memcpy(to, from, length, to_offset, from_offset, to_device, from_device);
}

ABTOMP_API int omp_target_memcpy_rect_async(void *to, const void *from, size_t element, int num, const size_t *volume,
                                            const size_t *to_offsets, const size_t *from_offsets,
                                            const size_t *to_sizes, const size_t *from_sizes, int to_device,
                                            int from_device, int num_depend, void *depend)
{
    (void)num_depend, (void)depend;
    return omp_target_memcpy_rect(to, from, element, num, volume, to_offsets, from_offsets, to_sizes, from_sizes,
                                  to_device, from_device);
}

/* Memory of the host cannot be associated with itself. */
ABTOMP_API int omp_target_associate_ptr(const void *host, const void *address, size_t size, size_t offset, int device)
{
    (void)host, (void)address, (void)size, (void)offset, (void)device;
    return EINVAL;
}

ABTOMP_API int omp_target_disassociate_ptr(const void *address, int device)
{
    (void)address, (void)device;
    return EINVAL;
}

ABTOMP_FORTRAN(int, omp_get_default_device, (void));
ABTOMP_FORTRAN(int, omp_get_num_devices, (void));
ABTOMP_FORTRAN(int, omp_get_device_num, (void));
ABTOMP_FORTRAN(int, omp_get_initial_device, (void));
ABTOMP_FORTRAN(int, omp_is_initial_device, (void));
ABTOMP_FORTRAN_INT(void, omp_set_default_device)
