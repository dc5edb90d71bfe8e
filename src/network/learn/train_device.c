/* A trial on a device: a fleet of one, which begins where the trainer is and leaves it where it has
 * come to. */
#include "network/learn/fleet_parts.h"

/* On samples of the caller's own the host judges. */
static wt_status validate(wt_context *context, wt_trainer *trainer, const wt_fleet_crew *crew) {
    wt_fleet_member *one = &crew->members[0];
    size_t slot = 0;
    if (trainer->held == NULL)
        return wt_fleet_validate(crew);
    WT_PASS(crew->engine->get(context, crew->fleet, 0, trainer->parameters, NULL, NULL));
    trainer->state = one->state;
    wt_status status = wt_train_validate(context, trainer);
    one->state = trainer->state;
    if (status == WT_OK && wt_train_state_conclude(&one->setting, &one->state))
        status = wt_fleet_put_starts(crew, &slot, 1);
    return status;
}

static wt_status take_steps(wt_context *context, wt_trainer *trainer, const wt_fleet_crew *crew,
                            size_t max_steps, wt_trainer_show_fn show) {
    wt_fleet_member *one = &crew->members[0];
    for (size_t done = 0, taken = 0; !one->state.ended && !one->broken; done += taken) {
        taken = 0;
        WT_PASS(wt_context_check_cancelled(context));
        if (wt_train_state_free_steps(&one->setting, &one->state) == 0) {
            WT_PASS(validate(context, trainer, crew));
        } else if (done < max_steps) {
            WT_PASS(wt_fleet_steps(crew, wt_fleet_list(crew), max_steps - done, &taken));
            trainer->state = one->state;
            show(trainer);
        } else {
            break;
        }
    }
    return one->broken ? wt_fail(context, WT_DATA, "the gradient of step %zu is not finite",
                                 one->state.step + 1)
                       : WT_OK;
}

wt_status wt_trainer_run_device(wt_context *context, wt_trainer *trainer, size_t max_steps,
                                wt_trainer_show_fn show) {
    wt_fleet_crew crew = {.device = wt_context_get_device(context)};
    wt_status status;
    WT_TRY(wt_fleet_check(context, &trainer->setting));
    WT_TRY(wt_fleet_engine_of(context, &crew.engine));
    WT_TRY(wt_fleet_open(context, &crew, &trainer->setting, trainer->batch->samples, 1));
    wt_fleet_member *one = &crew.members[0];
    WT_TRY(wt_fleet_give(&crew, 0, &trainer->setting, trainer->task, trainer->batch));
    WT_TRY(crew.engine->put(context, crew.fleet, 0, trainer->parameters, trainer->first,
                            trainer->second));
    one->setting = trainer->setting;
    one->state = trainer->state;
    one->live = true;
    status = take_steps(context, trainer, &crew, max_steps, show);
    trainer->state = one->state;
    one->state.history = NULL; /* the trainer's */
    wt_status got = crew.engine->get(context, crew.fleet, 0, trainer->parameters, trainer->first,
                                     trainer->second);
    status = status == WT_OK ? got : status;
done:
    wt_fleet_close(&crew);
    return status;
}
