/** A mail that shows what MJML does: two columns where there is room, one below the other on a phone. */
export const NEWSLETTER = {
  subject: 'Ana, tus puntos de noviembre',
  mjml: `<mjml>
  <mj-head>
    <mj-preview>Tienes 1.240 puntos, y una semana con el doble.</mj-preview>
    <mj-attributes>
      <mj-all font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" />
      <mj-text font-size="15px" line-height="1.6" color="#475067" />
    </mj-attributes>
  </mj-head>
  <mj-body background-color="#f4f5f8" width="600px">
    <mj-section padding="28px 0 0" />
    <mj-section background-color="#3b5bdb" border-radius="16px 16px 0 0" padding="28px 24px">
      <mj-column>
        <mj-text color="#c9d4ff" font-size="13px" font-weight="600" padding="0 8px">TIENDA ÑANDÚ</mj-text>
        <mj-text color="#ffffff" font-size="27px" font-weight="700" line-height="1.25" padding="8px 8px 0">
          {{ data.name }}, tienes {{ data.points }} puntos
        </mj-text>
      </mj-column>
    </mj-section>
    <mj-section background-color="#ffffff" padding="24px 16px 0">
      <mj-column>
        <mj-text font-size="18px" font-weight="700" color="#1b1f29" padding="0 16px">Esta semana, el doble</mj-text>
        <mj-text padding="6px 16px 16px">Hasta el domingo cada compra suma dos veces, en la tienda y en línea.</mj-text>
      </mj-column>
      <mj-column>
        <mj-text font-size="18px" font-weight="700" color="#1b1f29" padding="0 16px">Canjea desde 500</mj-text>
        <mj-text padding="6px 16px 16px">Con tus puntos te alcanza para despacho gratis y un descuento de 10 %.</mj-text>
      </mj-column>
    </mj-section>
    <mj-section background-color="#ffffff" border-radius="0 0 16px 16px" padding="8px 16px 28px">
      <mj-column>
        <mj-button href="https://example.com/puntos" background-color="#3b5bdb" border-radius="10px" font-weight="600" font-size="15px" inner-padding="12px 26px">
          Ver mis puntos
        </mj-button>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>`,
};
