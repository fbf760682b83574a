#pragma once
#include <microhttpd.h>

/* Swift cannot call variadic functions. Returns -1 where the library does not tell. */
static inline int aegis_mhd_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}
