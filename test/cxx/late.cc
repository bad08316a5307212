/* SPDX-License-Identifier: BSD-3-Clause */
// A plugin for test/cxx/plugin.c, which brings the C++ runtime with it.
#include <atomic>
#include <exception>

extern "C" int late_catches(int value, int (*leave)());

// leave() is called inside of handlers and of a destructor. How many things were not as they should be.
static std::atomic<int> wrong(0);

struct leaver {
    int (*leave)();
    ~leaver()
    {
        wrong += !std::uncaught_exception();
        leave();
        wrong += !std::uncaught_exception();
    }
};

extern "C" int late_catches(int value, int (*leave)())
{
    wrong += std::current_exception() != nullptr;
    try {
        try {
            leaver l = {leave};
            throw value;
        } catch (int) {
            leave();
            throw;
        }
    } catch (int caught) {
        leave();
        wrong += caught != value;
    }
    return wrong;
}
