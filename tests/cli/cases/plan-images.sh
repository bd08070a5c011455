# layers and data of images that do not fit: each is refused before step 1, with its place
try()
{
    "$@" && exit 1
    return 0
}
model()
{
    cat >net.yaml <<YAML
data: {type: synthetic, train: {shape: $1, rows: 8, classes: 3}}
model:
  - $2
  - flatten
  - linear: {units: 3}
loss: cross_entropy
train: {batch: ${3:-4}}
YAML
    try mptrain plan net.yaml
}
model '[16]' 'conv2d: {filters: 2, kernel: 3}'
model '[4, 4, 2]' 'conv2d: {filters: 2, kernel: 5}'
model '[4, 4, 3]' 'conv2d: {filters: 4, kernel: 3, groups: 2}'
model '[4, 4, 3]' 'conv2d: {filters: 4, kernel: 3, padding: [1, 2, 3]}'
model '[4, 4, 3]' 'conv2d: {filters: 4, kernel: [1, 2, 3]}'
model '[4, 4, 3]' 'max_pool2d: {kernel: 2, padding: 2}'
model '[4, 4, 3]' 'conv_transpose2d: {filters: 2, kernel: 2, stride: 2, output_padding: 2}'
model '[4, 4, 3]' 'groupnorm: {groups: 2}'
model '[4, 4, 3]' 'upsample: {scale: 0}'
model '[4, 4, 3]' 'residual: [conv2d: {filters: 2, kernel: 3, padding: same}]'
model '[4]' 'batchnorm' 1
model '[16]' 'global_avg_pool'
cat >net.yaml <<YAML
data: {type: synthetic, train: {shape: [16], rows: 8, classes: 3}, augment: {flip: true}}
model: [{linear: {units: 3}}]
loss: cross_entropy
YAML
try mptrain plan net.yaml
