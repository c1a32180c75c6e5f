# Libraries, all from the distribution. yaml-cpp, pugixml and libmd are linked statically and fmt is used header-only, so that the
# program runs on machines that have none of them.
find_package(Threads REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(CLI11 REQUIRED)

find_library(RACELAB_YAML_CPP_STATIC libyaml-cpp.a REQUIRED)
add_library(racelab_yaml INTERFACE)
target_include_directories(racelab_yaml SYSTEM INTERFACE ${YAML_CPP_INCLUDE_DIR})
target_link_libraries(racelab_yaml INTERFACE ${RACELAB_YAML_CPP_STATIC})

find_path(RACELAB_XXHASH_INCLUDE xxhash.h REQUIRED)

find_library(RACELAB_PUGIXML_STATIC libpugixml.a REQUIRED)
add_library(racelab_pugixml INTERFACE)
target_link_libraries(racelab_pugixml INTERFACE ${RACELAB_PUGIXML_STATIC})

find_path(RACELAB_MD_INCLUDE sha2.h REQUIRED)
find_library(RACELAB_MD_STATIC libmd.a REQUIRED)
add_library(racelab_md INTERFACE)
target_link_libraries(racelab_md INTERFACE ${RACELAB_MD_STATIC})
