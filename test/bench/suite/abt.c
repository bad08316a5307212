/* SPDX-License-Identifier: BSD-3-Clause */
/* The works of the suite on abt.h: libabt's own, or any other's that stands in the path of shared libraries. */
#include "abt_team.h"
#include "abt_user.h"

#include <string.h>

int main(int argc, char **argv)
{
    static struct suite_work all[256];
    const struct {
        const struct suite_work *works;
        int num;
    } files[] = {
        {abt_create_works, abt_create_num},
        {abt_switch_works, abt_switch_num},
        {abt_task_works, abt_task_num},
        {abt_sync_works, abt_sync_num},
        {abt_steps_works, abt_steps_num},
        {abt_start_works, abt_start_num},
        {abt_xs_works, abt_xs_num},
        {abt_native_works, abt_native_num},
        {abt_forked_works, abt_has_forks() ? abt_forked_num : 0},
        {abt_dense_works, abt_has_forks() ? abt_dense_num : 0},
        {abt_wait_works, abt_has_drivers() ? abt_wait_num : 0},
    };
    int num = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        memcpy(&all[num], files[i].works, (size_t)files[i].num * sizeof(all[0]));
        num += files[i].num;
    }
    return suite_main(argc, argv, all, num);
}
