/* Score-P's user instrumentation for Replay's recorder: a program that names regions by Score-P's macros has them in recordings of
 * `replay-record`, when it is compiled with
 *
 *     #include "replay-scorep-user.h"         in place of <scorep/SCOREP_User.h>
 *
 * and needs no library, as with `replay.h`, which this is made of. These macros do what they do with Score-P:
 *
 *     SCOREP_USER_REGION_DEFINE, _BEGIN, _INIT, _ENTER, _END, SCOREP_USER_REGION_BY_NAME_BEGIN, _END
 *     SCOREP_USER_GLOBAL_REGION_DEFINE, _EXTERNAL
 *     SCOREP_USER_FUNC_DEFINE, _BEGIN, _END
 *     SCOREP_USER_REGION                      in C++: the region ends with its block
 *     SCOREP_RECORDING_ON, _OFF, _IS_ON
 *
 * Regions of type DYNAMIC or PHASE are phases of Replay, all others are regions. What the recorder has nothing for expands to nothing,
 * and its arguments are not evaluated: parameters, metrics, topologies and online access.
 *
 * These macros are always active; Score-P's are with SCOREP_USER_ENABLE only.
 */
#ifndef REPLAY_SCOREP_USER_H
#define REPLAY_SCOREP_USER_H

#ifdef SCOREP_USER_REGION_DEFINE
#error "replay-scorep-user.h takes the place of scorep/SCOREP_User.h: include one of them only"
#endif

#include "replay.h"

/* Types, which may be combined. */
#define SCOREP_USER_REGION_TYPE_COMMON 0
#define SCOREP_USER_REGION_TYPE_FUNCTION 1
#define SCOREP_USER_REGION_TYPE_LOOP 2
#define SCOREP_USER_REGION_TYPE_DYNAMIC 4
#define SCOREP_USER_REGION_TYPE_PHASE 8

/* What a handle stands for since the last time that its region was named. */
typedef struct {
    const char *name;
    const char *file;
    int line;
    int type;
} SCOREP_User_RegionHandle;

#define SCOREP_USER_INVALID_REGION {0, 0, 0, 0}

#define REPLAY_IS_PHASE(type) (((type) & (SCOREP_USER_REGION_TYPE_DYNAMIC | SCOREP_USER_REGION_TYPE_PHASE)) != 0)

/* Macros down to the call, as those of replay.h: the caller's stack frame is the region's place. */
#define REPLAY_ENTER_AS(name, file, line, type)                                                                                        \
    (REPLAY_IS_PHASE(type) ? (replay_phase_begin ? replay_phase_begin((name), (file), (line)) : (void)0)                              \
                           : (replay_region_begin ? replay_region_begin((name), (file), (line)) : (void)0))
#define REPLAY_LEAVE_AS(name, type) (REPLAY_IS_PHASE(type) ? REPLAY_PHASE_END(name) : REPLAY_REGION_END(name))

#define SCOREP_USER_REGION_DEFINE(handle) static SCOREP_User_RegionHandle handle = SCOREP_USER_INVALID_REGION;
#define SCOREP_USER_GLOBAL_REGION_DEFINE(handle) SCOREP_User_RegionHandle handle = SCOREP_USER_INVALID_REGION;
#define SCOREP_USER_GLOBAL_REGION_EXTERNAL(handle) extern SCOREP_User_RegionHandle handle;

#define SCOREP_USER_REGION_INIT(handle, region_name, region_type)                                                                     \
    ((handle).name = (region_name), (handle).file = __FILE__, (handle).line = __LINE__, (void)((handle).type = (int)(region_type)));
#define SCOREP_USER_REGION_ENTER(handle)                                                                                              \
    ((handle).name ? REPLAY_ENTER_AS((handle).name, (handle).file, (handle).line, (handle).type) : (void)0);
#define SCOREP_USER_REGION_BEGIN(handle, region_name, region_type)                                                                    \
    SCOREP_USER_REGION_INIT(handle, region_name, region_type) SCOREP_USER_REGION_ENTER(handle)
#define SCOREP_USER_REGION_END(handle) ((handle).name ? REPLAY_LEAVE_AS((handle).name, (handle).type) : (void)0);

#define SCOREP_USER_REGION_BY_NAME_BEGIN(region_name, region_type) REPLAY_ENTER_AS(region_name, __FILE__, __LINE__, region_type);
/* Score-P ends the region of this name without its type; a phase cannot be told from a region here, and ends as a region does. */
#define SCOREP_USER_REGION_BY_NAME_END(region_name) REPLAY_REGION_END(region_name);

/* The function that says it, from where it says so to where it ends. */
#define SCOREP_USER_FUNC_DEFINE()
#define SCOREP_USER_FUNC_BEGIN() REPLAY_REGION_BEGIN(__func__);
#define SCOREP_USER_FUNC_END() REPLAY_REGION_END(__func__);

#define SCOREP_RECORDING_ON() REPLAY_RECORDING_ON();
#define SCOREP_RECORDING_OFF() REPLAY_RECORDING_OFF();
#define SCOREP_RECORDING_IS_ON() REPLAY_RECORDING_IS_ON()

/* What the recorder has nothing for. */
#define SCOREP_USER_PARAMETER_DEFINE(handle)
#define SCOREP_USER_PARAMETER_INT64(handle, name, value)
#define SCOREP_USER_PARAMETER_UINT64(handle, name, value)
#define SCOREP_USER_PARAMETER_STRING(handle, name, value)
#define SCOREP_USER_METRIC_LOCAL(handle)
#define SCOREP_USER_METRIC_GLOBAL(handle)
#define SCOREP_USER_METRIC_EXTERNAL(handle)
#define SCOREP_USER_METRIC_INIT(handle, name, unit, type, context)
#define SCOREP_USER_METRIC_INT64(handle, value)
#define SCOREP_USER_METRIC_UINT64(handle, value)
#define SCOREP_USER_METRIC_DOUBLE(handle, value)
#define SCOREP_USER_CARTESIAN_TOPOLOGY_DEFINE(handle)
#define SCOREP_USER_CARTESIAN_TOPOLOGY_CREATE(handle, name, dimensions)
#define SCOREP_USER_CARTESIAN_TOPOLOGY_ADD_DIM(handle, size, periodic, name)
#define SCOREP_USER_CARTESIAN_TOPOLOGY_INIT(handle)
#define SCOREP_USER_CARTESIAN_TOPOLOGY_SET_COORDS(handle, ...)
#define SCOREP_USER_OA_PHASE_BEGIN(handle, name, type)
#define SCOREP_USER_OA_PHASE_END(handle)

#ifdef __cplusplus
namespace replay {

/* A region or a phase that ends with its block. Inlined for the frame, as Region of replay.h. */
class ScorepRegion {
public:
    __attribute__((always_inline)) inline ScorepRegion(const char *name, int type, const char *file, int line) : name_(name), type_(type) {
        REPLAY_ENTER_AS(name, file, line, type);
    }
    __attribute__((always_inline)) inline ~ScorepRegion() { REPLAY_LEAVE_AS(name_, type_); }

private:
    ScorepRegion(const ScorepRegion &);
    ScorepRegion &operator=(const ScorepRegion &);
    const char *name_;
    int type_;
};

} // namespace replay

#define SCOREP_USER_REGION(name, type) \
    ::replay::ScorepRegion REPLAY_JOIN(replay_scorep_region_, __LINE__)((name), (int)(type), __FILE__, __LINE__);
#endif /* __cplusplus */

#endif /* REPLAY_SCOREP_USER_H */
