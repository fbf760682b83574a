#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/// Swift's Glibc module leaves eventfd out, and its flags are an enumeration there.
static inline int aegis_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

static inline int aegis_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }
