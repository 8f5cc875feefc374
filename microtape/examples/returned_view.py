import microtape as mt

# A Function whose output is a view: it shares the memory of the argument.
#
# Crop cuts the border off an image. `image[1:-1, 1:-1]` copies nothing, so
# `middle` shares the memory of the image. Backward puts the gradient back
# where the part was cut out, with zeros around it.
#
# Look at: the output of Crop, marked as a view of `image`, and inside of
# backward, the write into `grad_image`. A write into `middle` is an error: it
# would change the image too, and this backward knows nothing of that write.


class Crop(mt.autograd.Function):
    """The image without a border of so many pixels."""

    @staticmethod
    def forward(ctx, image, border):
        ctx.shape, ctx.border = image.shape, border
        return image[border:-border, border:-border]

    @staticmethod
    def backward(ctx, grad_middle):
        cut = slice(ctx.border, -ctx.border)
        grad_image = mt.zeros(ctx.shape)
        grad_image[cut, cut] = grad_middle
        return grad_image, None


image = mt.arange(16.0).reshape(4, 4).requires_grad_()

middle = Crop.apply(image, 1)
energy = (middle * middle).sum()

energy.backward()

print("middle is a view of the image:", middle._is_view())
try:
    middle.mul_(2)
except RuntimeError as error:
    print(str(error).partition(".")[0])
