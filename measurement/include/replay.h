/* What a C or C++ program may tell Replay's recorder: regions, phases, and what to record.
 *
 * Only this header is needed, no library. A program that was built with it runs as it always did; when it is started
 * with `replay-record`, what it says here is recorded beside its MPI calls. Without the recorder each line below costs
 * a test of a pointer.
 *
 *     REPLAY_REGION_BEGIN("assembly");        a named stretch of the run: a node of the call tree, below the function
 *     ...                                     that says it and above the MPI calls made until its end
 *     REPLAY_REGION_END("assembly");
 *
 *     REPLAY_PHASE_BEGIN("iteration");        likewise, but a stretch that is analyzed as a whole, such as a time step
 *     REPLAY_PHASE_END("iteration");
 *
 *     REPLAY_RECORDING_OFF();                 nothing is recorded from here on ...
 *     REPLAY_RECORDING_ON();                  ... to here
 *     if (REPLAY_RECORDING_IS_ON()) ...       0 as well if there is no recorder
 *
 * and in C++, where the region ends with its block, however that is left:
 *
 *     REPLAY_REGION("assembly");
 *     REPLAY_PHASE("iteration");
 *
 * Regions and phases nest: the one begun last ends first, in the thread that began it. Recording is switched for the
 * calling thread's process. It should be switched by all processes at the same points of the program, best right behind
 * a barrier: a message whose send is recorded and whose receive is not cannot be analyzed.
 *
 * Names are copied. They are text in UTF-8; a region is known by its name, file and line together.
 *
 * In a program linked with `-no-pie -mcmodel=large` the recorder is not found, and regions are not recorded.
 */
#ifndef REPLAY_H
#define REPLAY_H

#ifdef __cplusplus
extern "C" {
#endif

/* The recorder has these functions. A reference is weak so that its address is null where there is no recorder; and it
 * is `noplt`, that is, read from the global offset table, because the linker makes null of any other weak reference of
 * a program that is not position independent before a preloaded library can say otherwise. */
#define REPLAY_FROM_RECORDER __attribute__((weak, noplt))

extern void replay_region_begin(const char *name, const char *file, int line) REPLAY_FROM_RECORDER;
extern void replay_region_end(const char *name) REPLAY_FROM_RECORDER;
extern void replay_phase_begin(const char *name, const char *file, int line) REPLAY_FROM_RECORDER;
extern void replay_phase_end(const char *name) REPLAY_FROM_RECORDER;
extern void replay_recording_on(void) REPLAY_FROM_RECORDER;
extern void replay_recording_off(void) REPLAY_FROM_RECORDER;
extern int replay_recording_is_on(void) REPLAY_FROM_RECORDER;

#ifdef __cplusplus
}
#endif

/* Macros, not functions: the recorder finds the region's place in the call tree by its caller's stack frame. */
#define REPLAY_REGION_BEGIN(name) (replay_region_begin ? replay_region_begin((name), __FILE__, __LINE__) : (void)0)
#define REPLAY_REGION_END(name) (replay_region_end ? replay_region_end(name) : (void)0)
#define REPLAY_PHASE_BEGIN(name) (replay_phase_begin ? replay_phase_begin((name), __FILE__, __LINE__) : (void)0)
#define REPLAY_PHASE_END(name) (replay_phase_end ? replay_phase_end(name) : (void)0)
#define REPLAY_RECORDING_ON() (replay_recording_on ? replay_recording_on() : (void)0)
#define REPLAY_RECORDING_OFF() (replay_recording_off ? replay_recording_off() : (void)0)
#define REPLAY_RECORDING_IS_ON() (replay_recording_is_on ? replay_recording_is_on() : 0)

#ifdef __cplusplus
namespace replay {

/* Inlined also where nothing else is, so that the frame is that of the function which names the region. */
#define REPLAY_INLINE __attribute__((always_inline)) inline

class Region {
public:
    REPLAY_INLINE Region(const char *name, const char *file, int line) : name_(name) {
        if (replay_region_begin) replay_region_begin(name, file, line);
    }
    REPLAY_INLINE ~Region() { REPLAY_REGION_END(name_); }

private:
    Region(const Region &);
    Region &operator=(const Region &);
    const char *name_;
};

class Phase {
public:
    REPLAY_INLINE Phase(const char *name, const char *file, int line) : name_(name) {
        if (replay_phase_begin) replay_phase_begin(name, file, line);
    }
    REPLAY_INLINE ~Phase() { REPLAY_PHASE_END(name_); }

private:
    Phase(const Phase &);
    Phase &operator=(const Phase &);
    const char *name_;
};

#undef REPLAY_INLINE

} // namespace replay

#define REPLAY_JOIN_NOW(a, b) a##b
#define REPLAY_JOIN(a, b) REPLAY_JOIN_NOW(a, b)
#define REPLAY_REGION(name) ::replay::Region REPLAY_JOIN(replay_region_, __LINE__)((name), __FILE__, __LINE__)
#define REPLAY_PHASE(name) ::replay::Phase REPLAY_JOIN(replay_phase_, __LINE__)((name), __FILE__, __LINE__)
#endif /* __cplusplus */

#endif /* REPLAY_H */
