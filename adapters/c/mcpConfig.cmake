# find_package(mcp) defines the target mcp::mcp (shared) and mcp::static.
get_filename_component(_mcp_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_package(Threads REQUIRED)
if(NOT TARGET mcp::mcp)
  add_library(mcp::mcp SHARED IMPORTED)
  set_target_properties(mcp::mcp PROPERTIES
    IMPORTED_LOCATION "${_mcp_prefix}/lib/libmcp${CMAKE_SHARED_LIBRARY_SUFFIX}"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES "${_mcp_prefix}/include")
  add_library(mcp::static STATIC IMPORTED)
  set_target_properties(mcp::static PROPERTIES
    IMPORTED_LOCATION "${_mcp_prefix}/lib/libmcp.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_mcp_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
