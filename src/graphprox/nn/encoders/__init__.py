"""Encoders, which map features and edges to an embedding; one file each."""

from graphprox.nn.encoders.base import ENCODERS, ConvolutionEncoder, Encoder, EncoderOptions, register_encoder

__all__ = ["ENCODERS", "ConvolutionEncoder", "Encoder", "EncoderOptions", "register_encoder"]
