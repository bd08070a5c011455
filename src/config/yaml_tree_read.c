/* yaml_tree_read.c: a config file into memory, and from there into a tree (yaml_tree.h). */
#include "config.h"

#include "config/yaml_tree.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum rc cannot_read(const char *path, const char *why, struct diag *d)
{
    return diag_error(d, RC_CONFIG, (struct loc){path, 0, 0}, "cannot read the config: %s", why);
}

/* Everything that fd gives, up to one byte more than is allowed. */
static enum rc read_all(int fd, const char *path, struct str *text, struct diag *d)
{
    char block[16384];
    ssize_t n;
    while (text->length <= YAML_TREE_MAX_BYTES && (n = read(fd, block, sizeof(block))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cannot_read(path, strerror(errno), d);
        str_append(text, block, (size_t)n);
    }
    return text->failed ? diag_no_memory(d) : RC_OK;
}

enum rc yaml_tree_read(const struct value **out, const char *path, struct pool *pool,
                       struct diag *d)
{
    struct stat facts;
    struct str text;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot_read(path, strerror(errno), d);
    if (fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        close(fd);
        return cannot_read(path, "it is a directory", d);
    }
    str_init(&text);
    enum rc rc = read_all(fd, path, &text, d);
    close(fd);
    if (rc == RC_OK)
        rc = yaml_tree_parse(out, text.text ? text.text : "", text.length, path, pool, d);
    str_release(&text);
    return rc;
}
