// What Swift's Glibc module leaves out because it is built without _GNU_SOURCE.
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>
