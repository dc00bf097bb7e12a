"""Operations of half precision and float32: what raises in real Keras, what mplint says, and what its fix gives."""
