#pragma once
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <pthread.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

// Left out of pthread.h without _GNU_SOURCE.
int pthread_setname_np(pthread_t thread, const char *name);
