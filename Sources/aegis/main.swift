import Glibc

await exit(CommandLineTool.run(Array(CommandLine.arguments.dropFirst())))
