# `cmake --install` and `cpack`: a relocatable tree. bin/racelab finds lib/racelab/agent and share/racelab beside itself.
set(RACELAB_PYTHON_FILES PATTERN "__pycache__" EXCLUDE)
install(TARGETS racelab RUNTIME DESTINATION bin)
install(TARGETS racelab_agent LIBRARY DESTINATION lib/racelab/agent)
install(FILES harness/agent/python/sitecustomize.py DESTINATION lib/racelab/agent)
install(DIRECTORY harness/agent/python/racelab_agent DESTINATION lib/racelab/agent ${RACELAB_PYTHON_FILES})
install(DIRECTORY ${RACELAB_VENDOR_DIR}/ DESTINATION lib/racelab/agent/racelab_agent_vendor ${RACELAB_PYTHON_FILES}
        PATTERN "bin" EXCLUDE PATTERN "complete" EXCLUDE)
install(FILES harness/agent/racelab.h DESTINATION include)
install(DIRECTORY scenarios fixtures DESTINATION share/racelab ${RACELAB_PYTHON_FILES})
install(DIRECTORY reports/schemas DESTINATION share/racelab/reports)
install(DIRECTORY docs DESTINATION share/doc/racelab OPTIONAL)

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME racelab)
set(CPACK_PACKAGE_FILE_NAME racelab-${PROJECT_VERSION}-linux-x86_64)
set(CPACK_STRIP_FILES ON)
include(CPack)
