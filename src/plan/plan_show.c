/* plan_show.c: what `mptrain plan` prints: every node, its type and the rule behind it. */
#include "config.h"

#include "plan/plan.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

static const char *rule_text(const struct node *n, char *out, size_t size)
{
    if (n->rule_loc.file && n->rule_loc.line > 0)
        snprintf(out, size, "%s (%s:%d)", n->rule, n->rule_loc.file, n->rule_loc.line);
    else
        snprintf(out, size, "%s%s%s", n->rule, n->rule_loc.file ? " " : "",
                 n->rule_loc.file ? n->rule_loc.file : "");
    return out;
}

static const char *kernel_of(const struct node *n)
{
    return n->n_gemms && n->gemm[0] ? kern_gemm_name(n->gemm[0]) : "-";
}

/* The op, with the activation that is fused into it: "linear+relu". */
static const char *op_text(const struct node *n, char *out, size_t size)
{
    static const char *const acts[] = {
        [GEMM_ACT_NONE] = "",           [GEMM_ACT_RELU] = "+relu", [GEMM_ACT_GELU] = "+gelu",
        [GEMM_ACT_GELU_TANH] = "+gelu", [GEMM_ACT_SILU] = "+silu", [GEMM_ACT_TANH] = "+tanh",
        [GEMM_ACT_SIGMOID] = "+sigmoid"};
    snprintf(out, size, "%s%s", n->op->name, acts[n->act]);
    return out;
}

static size_t node_bytes(const struct plan *p, const struct node *n)
{
    size_t bytes = 0;
    if (n->out != TENSOR_NONE)
        bytes += graph_tensor(&p->graph, n->out)->bytes;
    for (int k = 0; k < n->n_saved; k++)
        bytes += graph_tensor(&p->graph, n->saved[k])->bytes;
    return bytes;
}

static void show_node(const struct plan *p, const struct node *n, struct str *out)
{
    char shape[TENSOR_SHAPE_ROOM] = "-", rule[256], bytes[STR_BYTES_ROOM], dtypes[32], op[48];
    const struct tensor *in = graph_tensor(&p->graph, n->in[0]);
    if (n->out != TENSOR_NONE)
        tensor_shape(shape, graph_tensor(&p->graph, n->out));
    snprintf(dtypes, sizeof(dtypes), n->op == op_get(OP_cast) ? "%s>%s" : "%s",
             n->op == op_get(OP_cast) ? dtype_name(in->dtype) : dtype_name(n->dtype),
             dtype_name(n->dtype));
    str_printf(out, "%-20s %-16s %-14s %-6s %-10s %-11s %10s  %s\n", n->name,
               op_text(n, op, sizeof(op)), shape, op_class_name(n->op->class), dtypes, kernel_of(n),
               str_bytes(bytes, node_bytes(p, n)), rule_text(n, rule, sizeof(rule)));
}

static void show_refusals(const struct node *n, struct str *out)
{
    static const char *const slots[] = {"forward", "d_input", "d_weight", "other"};
    if (n->act != GEMM_ACT_NONE)
        str_printf(out, "    %-9s %s%s\n", "applies", n->act_name,
                   n->pre == TENSOR_NONE ? "" : ", and keeps its input for backward");
    for (int s = 0; s < n->n_gemms; s++) {
        if (!n->gemm[s])
            continue;
        str_printf(out, "    %-9s %s\n", slots[s < 3 ? s : 3], kern_gemm_name(n->gemm[s]));
        for (int i = 0; i < n->gemm[s]->n_refused; i++)
            str_printf(out, "        not %s: %s\n", n->gemm[s]->refused[i].row,
                       n->gemm[s]->refused[i].reason);
    }
}

static void show_totals(const struct plan *p, struct str *out)
{
    static const char *const scales[] = {"none", "static", "dynamic"};
    const struct plan_totals *t = &p->totals;
    char room[STR_BYTES_ROOM];
    const struct {
        const char *name;
        size_t bytes;
    } rows[] = {
        {"masters (fp32)", t->param_bytes},      {"packed weights", t->shadow_bytes},
        {"weight gradients", t->grad_bytes},     {"optimizer state", t->state_bytes},
        {"activations", t->activation_bytes},    {"activation arena", t->arena_bytes},
        {"scratch", t->scratch_bytes},
    };
    str_printf(out, "\nparameters        %" PRId64 "\n", t->parameters);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        str_printf(out, "%-17s %s\n", rows[i].name, str_bytes(room, rows[i].bytes));
    str_printf(out, "FLOPs a step      %.4g\nloss scale        %s\nfingerprint       %s\n",
               t->flops_per_step, scales[p->scale], p->fingerprint);
}

void plan_show(const struct plan *p, bool verbose, struct str *out)
{
    str_printf(out, "%-20s %-16s %-14s %-6s %-10s %-11s %10s  %s\n", "node", "op", "shape",
               "class", "dtype", "kernel", "bytes", "rule");
    for (int i = 0; i < p->graph.n_nodes; i++) {
        show_node(p, &p->graph.nodes[i], out);
        if (verbose)
            show_refusals(&p->graph.nodes[i], out);
    }
    show_totals(p, out);
}

static json_t *node_json(const struct plan *p, const struct node *n)
{
    char shape[TENSOR_SHAPE_ROOM] = "", rule[256], op[48];
    if (n->out != TENSOR_NONE)
        tensor_shape(shape, graph_tensor(&p->graph, n->out));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:b, s:s?}", "name", n->name,
                     "op", op_text(n, op, sizeof(op)), "shape", shape, "class",
                     op_class_name(n->op->class), "dtype_in",
                     dtype_name(graph_tensor(&p->graph, n->in[0])->dtype), "dtype",
                     dtype_name(n->dtype), "kernel", kernel_of(n), "rule",
                     rule_text(n, rule, sizeof(rule)), "bytes", (json_int_t)node_bytes(p, n),
                     "inserted", n->inserted, "fused", n->act_name);
}

enum rc plan_show_json(const struct plan *p, struct str *out)
{
    const struct plan_totals *t = &p->totals;
    json_t *nodes = json_array();
    for (int i = 0; i < p->graph.n_nodes; i++)
        json_array_append_new(nodes, node_json(p, &p->graph.nodes[i]));
    json_t *all = json_pack(
        "{s:o, s:s, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}}", "nodes", nodes,
        "fingerprint", p->fingerprint, "totals", "parameters", (json_int_t)t->parameters,
        "param_bytes", (json_int_t)t->param_bytes, "shadow_bytes", (json_int_t)t->shadow_bytes,
        "grad_bytes", (json_int_t)t->grad_bytes, "state_bytes", (json_int_t)t->state_bytes,
        "activation_bytes", (json_int_t)t->activation_bytes, "arena_bytes",
        (json_int_t)t->arena_bytes, "scratch_bytes", (json_int_t)t->scratch_bytes,
        "flops_per_step", t->flops_per_step);
    char *text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
    json_decref(all);
    if (!text)
        return RC_FAILED;
    str_printf(out, "%s\n", text);
    free(text);
    return RC_OK;
}
