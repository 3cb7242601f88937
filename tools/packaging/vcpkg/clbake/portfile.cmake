# The library of this checkout, for vcpkg: vcpkg install clbake --overlay-ports=tools/packaging/vcpkg
cmake_path(SET source NORMALIZE "${CURRENT_PORT_DIR}/../../../..")
set(VCPKG_POLICY_DLLS_IN_STATIC_LIBRARY enabled)  # both kinds are built: BUILD_SHARED_LIBS says which is clbake::runtime

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES trust CLBAKE_TRUST)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
  SOURCE_PATH "${source}"
  OPTIONS ${features} -DCLBAKE_BUILD_TOOLS=OFF -DCLBAKE_BUILD_TESTS=OFF -DCLBAKE_LAYER=OFF -DCLBAKE_CLBLAST=OFF
          "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/clbake)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
