# The agent as the pipeline's process sees it: one folder with libracelab_agent.so, the Python package and the libraries that
# the package carries. It is put on PYTHONPATH of a trial, in the build tree as in an installed racelab.
set(RACELAB_AGENT_DIR ${PROJECT_BINARY_DIR}/agent)
file(MAKE_DIRECTORY ${RACELAB_AGENT_DIR})
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/harness/agent/python/sitecustomize.py ${RACELAB_AGENT_DIR}/sitecustomize.py SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/harness/agent/python/racelab_agent ${RACELAB_AGENT_DIR}/racelab_agent SYMBOLIC)
# wrapt in its pure-Python form; ci/setup puts it there.
set(RACELAB_VENDOR_DIR ${PROJECT_SOURCE_DIR}/build/vendor/racelab_agent_vendor CACHE PATH "Python libraries that the agent carries")
file(CREATE_LINK ${RACELAB_VENDOR_DIR} ${RACELAB_AGENT_DIR}/racelab_agent_vendor SYMBOLIC)
