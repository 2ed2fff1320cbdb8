// Which files are images that a model can be shown, by their first bytes.
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function isAnimated(png: Buffer): boolean {
  for (let at = PNG.length; at + 8 <= png.length; at += 12 + png.readUInt32BE(at)) {
    const type = png.toString('latin1', at + 4, at + 8)
    if (type === 'acTL') return true
    if (type === 'IDAT') return false
  }
  return false
}

/** Those that pi's own read knows; anything else is text. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const begins = (text: string, at = 0) => bytes.toString('latin1', at, at + text.length) === text
  if (bytes.subarray(0, 8).equals(PNG)) return isAnimated(bytes) ? undefined : 'image/png'
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return bytes[3] === 0xf7 ? undefined : 'image/jpeg'
  if (begins('GIF87a') || begins('GIF89a')) return 'image/gif'
  if (begins('RIFF') && begins('WEBP', 8)) return 'image/webp'
  if (begins('BM') && bytes.length >= 26 && bytes.readUInt32LE(2) === bytes.length) return 'image/bmp'
  return undefined
}
