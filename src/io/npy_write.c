#include "io/tensor.h"

wt_status wt_npy_write(wt_context *context, const char *path, const wt_tensor *tensor) {
    wt_output *output = NULL;
    wt_array array;
    char head[WT_NPY_HEAD_BYTES];
    wt_status status;
    WT_TRY(wt_tensor_check(context, tensor, &array));
    WT_TRY(wt_output_open(context, path, &output));
    WT_TRY(wt_output_write(output, head, wt_npy_head(tensor, head)));
    WT_TRY(wt_output_values(output, tensor->type, tensor->values, array.count));
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    return status;
}
