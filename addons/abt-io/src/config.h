/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration of an instance, which is JSON on both ways. */
#ifndef ABT_IO_CONFIG_H_INCLUDED
#define ABT_IO_CONFIG_H_INCLUDED

#include <abt-io.h>

/* The configuration with all its members, to be freed; info may be NULL. NULL: it is wrong, as reported on stderr, or
 * there is no memory. */
char *abt_ioi_config_read(const struct abt_io_init_info *info);

#endif
