import APNsSender
import Glibc

OpenSSLLifetime.outlastExit()
await exit(CommandLineTool.run(Array(CommandLine.arguments.dropFirst())))
