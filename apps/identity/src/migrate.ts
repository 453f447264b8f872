// Named by the manifests of the first release, whose jobs may run this image: remove it in the release after the next.
process.argv.splice(2, Infinity, 'migrate');
await import('./platform.js');
