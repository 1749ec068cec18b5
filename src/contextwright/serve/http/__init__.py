"""Operations over HTTP: declared once, routed, decoded, answered and described."""
