# SOURCE_PATH is that of an unpacked distribution.
vcpkg_configure_make(SOURCE_PATH "${SOURCE_PATH}")
vcpkg_install_make()
vcpkg_cmake_config_fixup(PACKAGE_NAME libabt CONFIG_PATH lib/cmake/libabt)
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/COPYRIGHT")
